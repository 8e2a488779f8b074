package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/story"
)

// kept is a store that keeps verdicts.
type kept struct {
	*memory.Reader
	*memory.VerdictHistory
}

// correlatorOf answers for a story whose verdict was kept twice: in the middle, and at its end.
func correlatorOf(t *testing.T, tale string, middle time.Duration) string {
	t.Helper()
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	records, err := story.Parse(tale)
	if err != nil {
		t.Fatal(err)
	}
	history := &memory.VerdictHistory{}
	l := memory.New(p, records)
	var before *correlator.Assessment
	for i, asOf := range []int64{story.Day.Add(middle).UnixNano(), 0} {
		list, err := (&query.Service{Store: l, Profile: p, Rules: rules.All()}).JudgeLatest(t.Context(), asOf, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := correlator.Revise(before, list[0], nil)
		r.JudgedAt = correlator.Time(story.Day.Add(time.Duration(10+i) * time.Hour).UnixNano())
		if err := history.Write(t.Context(), []correlator.Revision{r}); err != nil {
			t.Fatal(err)
		}
		before = &list[0]
	}
	server := httptest.NewServer(api.New(&query.Service{Store: kept{l, history}, Profile: p, Rules: rules.All()}, p, rules.All(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()).Handler(http.NotFoundHandler()))
	t.Cleanup(server.Close)
	return server.URL
}

func TestVerdictExplainsAndRemembers(t *testing.T) {
	server := correlatorOf(t, `
10:00:00 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:00 provisioner node.assigned allocation_id=a-1 node_id=n-7
10:00:01 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-7 type=prepare to=queued
10:00:03 ingress-proxy error tls.client.subject=CN=n-7 | client certificate of CN=n-7 refused: x509: certificate has expired or is not yet valid
10:01:01 provisioner task.state allocation_id=a-1 task_id=k-1 node_id=n-7 type=prepare to=expired
`, 10*time.Hour+30*time.Second)
	f := func(want []string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		cmd := command()
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SetArgs(append(args, "--server", server))
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%v: %q is not in:\n%s", args, w, out.String())
			}
		}
	}
	f([]string{"  owner        CERT", "attributed, low confidence"}, "verdict", "k-1")
	f([]string{"trouble: task k-1 (prepare) was never claimed", "ruling: attributed", "✓ cert.expired"}, "verdict", "k-1", "--explain")
	f([]string{`"reasoning"`, `"considered"`}, "verdict", "a-1", "--explain", "--json")
	f([]string{"2026-03-02T10:00:00Z  none.", "the first verdict", "2026-03-02T11:00:00Z  attributed.", "outcome: none → attributed", "2 verdicts on a-1"}, "verdict", "a-1", "--history")
	f([]string{`"differs"`}, "verdict", "a-1", "--history", "--json")
	f([]string{"CERT.expired", "1 victim     a-1"}, "incidents", "--details")
	f([]string{"0 stuck"}, "stuck")
	f([]string{"0 views drift"}, "drift")
}
