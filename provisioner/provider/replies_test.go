package provider_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/aap"
	"github.com/faultline-io/faultline/provisioner/provider/eda"
)

// reply is what every request of a run is answered with.
type reply struct {
	status int
	body   string
}

// FuzzReplies has a provider, and the hub beside it, answer whatever comes to mind. Whatever it is, each call
// comes back with a status of the seven states or a Failure that names its kind; a launch that was not
// understood is ambiguous or was never sent, and what was sent stands in no error.
func FuzzReplies(f *testing.F) {
	for _, body := range []string{
		``, `null`, `true`, `"x"`, `7`, `[]`, `{}`, `{"id":`, `{"id":"7","status":4}`, `{"id":7,"status":null}`, `{"id":-1,"status":"running"}`, `{"id":1e400}`,
		`{"id":7,"status":"successful","job_explanation":["x"]}`, `{"id":101,"status":"\u0000\ud800","job_explanation":"\u0000"}`, "\x00\xff\xfe", `<html><body>Bad gateway</body></html>`,
		`{"results":[{"id":11,"name":"osac-create-compute-instance"}]}`, `{"next":"/?page=2","results":[]}`, `{"next":"::","results":{}}`, `{"next":"http://[::1]:namedport"}`,
		`{"metadata":{"name":7}}`, `{"metadata":{"annotations":[]},"status":"x"}`, `{"items":[null,{}]}`, `{"detail":{"a":1}}`, `{"error":` + strings.Repeat(`[`, 20000),
		`{"results":` + strings.Repeat(" ", 1<<20) + `[]}`, `{"kind":"Status","status":"Failure","code":409}`,
	} {
		for _, status := range []int{200, 201, 202, 204, 302, 401, 404, 405, 409, 429, 500, 503} {
			f.Add(status, body)
		}
	}
	var now atomic.Pointer[reply]
	now.Store(&reply{status: 200})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r := now.Load()
		w.WriteHeader(r.status)
		_, _ = w.Write([]byte(r.body))
	}))
	f.Cleanup(server.Close)
	const secret = "tok-3c1d"
	end := provider.Endpoint{URL: server.URL, Token: secret, Timeout: 5 * time.Second}
	a := aap.DefaultConfig()
	a.API, a.Hub = end, end
	controller, err := aap.Open(a, nil)
	if err != nil {
		f.Fatal(err)
	}
	e := eda.DefaultConfig()
	e.Webhook, e.Hub = end, end
	activation, err := eda.Open(e, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { controller.Close(); activation.Close() })
	states := map[provider.State]bool{
		"": true, provider.Pending: true, provider.Waiting: true, provider.Running: true, provider.Succeeded: true, provider.Failed: true, provider.Canceled: true, provider.Unknown: true,
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			t.Skip()
		}
		now.Store(&reply{status, body})
		check := func(what string, err error, s provider.Status) {
			t.Helper()
			var failed *provider.Failure
			switch {
			case err != nil && (!errors.As(err, &failed) || failed.Kind == ""):
				t.Errorf("%s: %v is no failure of the provider", what, err)
			case err != nil && strings.Contains(err.Error(), secret):
				t.Errorf("%s: %v tells the token", what, err)
			case !states[s.State]:
				t.Errorf("%s: state %q", what, s.State)
			case s.Result == provider.OK && s.Proof == "" && s.Observed != "":
				t.Errorf("%s: %q seen without proof", what, s.Observed)
			}
		}
		for _, p := range []provider.Provider{controller, activation} {
			for _, operation := range []string{provider.Provision, provider.Deprovision} {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				r := provider.Request{Key: "a-1/" + operation + "/1/1", AllocationID: "a-1", Operation: operation, ConfigVersion: "1", Pool: "p", Template: "i"}
				l, err := p.Launch(ctx, r)
				check("launch", err, l.Status)
				if err == nil && l.ID == "" && !l.Skipped {
					t.Error("launched without an id")
				}
				l, found, _, err := p.Adopt(ctx, r, time.Now())
				check("adopt", err, l.Status)
				if err == nil && found && l.ID == "" {
					t.Error("adopted without an id")
				}
				kind := "job"
				if p == provider.Provider(activation) {
					kind = "webhook"
				}
				j := provider.Job{Request: r, ID: "101", Kind: kind}
				s, err := p.Poll(ctx, j)
				check("poll", err, s)
				if p.Traits().Cancels {
					_, err = p.Cancel(ctx, j)
					check("cancel", err, provider.Status{})
				}
				_, err = p.Project(ctx, j, provider.Status{State: provider.Running, Raw: "running", Message: "running"})
				check("project", err, provider.Status{})
				if ctx.Err() != nil {
					t.Error("no end to it")
				}
				cancel()
			}
		}
	})
}
