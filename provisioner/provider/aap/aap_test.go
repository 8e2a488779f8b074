package aap_test

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/lab/aapsim"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/aap"
	"github.com/faultline-io/faultline/provisioner/provider/hub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "tok-3c1d"

// bench is a controller over HTTPS, its hub, and the adapter.
type bench struct {
	hub  *hubsim.Hub
	sim  *aapsim.Controller
	aap  *aap.Controller
	next aap.Config
}

func newBench(t *testing.T, c aapsim.Config) *bench {
	t.Helper()
	b := &bench{hub: hubsim.New("hub-token")}
	c.Token, c.Instance = secret, "lab"
	b.sim = aapsim.New(c, b.hub, nil)
	api, hubAPI := httptest.NewTLSServer(b.sim.Handler()), httptest.NewServer(b.hub.Handler())
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	b.next = aap.DefaultConfig()
	b.next.Instance = "lab"
	b.next.API = provider.Endpoint{URL: api.URL + "/api/controller", Token: secret, CAFile: ca, Timeout: 900 * time.Millisecond}
	b.next.Hub = provider.Endpoint{URL: hubAPI.URL, Token: "hub-token", Timeout: 5 * time.Second}
	b.aap = b.open(t, b.next)
	t.Cleanup(func() { b.sim.Close(); api.Close(); hubAPI.Close() })
	return b
}

func (b *bench) open(t *testing.T, c aap.Config) *aap.Controller {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	a, err := aap.Open(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func request(id, template, operation string) provider.Request {
	version := provider.ConfigVersion(template, "p")
	return provider.Request{
		Key: id + "/" + operation + "/" + version + "/1", AllocationID: id, Operation: operation, ConfigVersion: version, Pool: "p", Template: template,
	}
}

func (b *bench) launch(t *testing.T, r provider.Request) provider.Job {
	t.Helper()
	l, err := b.aap.Launch(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return provider.Job{Request: r, ID: l.ID, Kind: l.Kind}
}

// until polls until ok.
func (b *bench) until(t *testing.T, j provider.Job, ok func(provider.Status) bool) provider.Status {
	t.Helper()
	var s provider.Status
	for range 400 {
		var err error
		if s, err = b.aap.Poll(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		if ok(s) {
			return s
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("job stays at %+v", s)
	return s
}

func over(s provider.Status) bool { return s.Result != provider.Open }

func TestProvisionAndDeprovision(t *testing.T) {
	b := newBench(t, aapsim.Config{})
	s := b.until(t, b.launch(t, request("a-1", "ocp_virt_vm", provider.Provision)), over)
	if s.State != provider.Succeeded || s.Result != provider.OK || s.Observed != provider.ObservedRunning || len(b.hub.VirtualMachines("a-1")) != 1 {
		t.Fatalf("provisioned: %+v", s)
	}
	s = b.until(t, b.launch(t, request("a-1", "ocp_virt_vm", provider.Deprovision)), over)
	if s.State != provider.Succeeded || s.Observed != provider.ObservedAbsent || len(b.hub.VirtualMachines("a-1")) != 0 {
		t.Fatalf("deprovisioned: %+v", s)
	}
	if _, there := b.hub.Resource("a-1"); there {
		t.Fatal("the resource is still there")
	}
}

func TestStatusesAndExplanations(t *testing.T) {
	for _, c := range []struct {
		template string
		state    provider.State
		result   provider.Result
		message  string
	}{
		{hubsim.FailQuota, provider.Failed, provider.Lost, "failed on aap-ee-1: task create virtual machine failed: admission webhook denied the request: exceeded quota: compute"},
		{hubsim.ErrorStart, provider.Failed, provider.Lost, "error on aap-ee-1: Task was marked as running but was not present in the job queue, so it has been marked as failed."},
		{hubsim.PendingCapacity, provider.Pending, provider.Open, "pending: This job is not ready to start because there is not enough available capacity."},
		{hubsim.PendingOther, provider.Pending, provider.Open, "pending: waiting for project_update-97 to finish"},
		{hubsim.JobTimeout, provider.Failed, provider.Lost, "failed on aap-ee-1: Job terminated due to timeout"},
		{hubsim.ShutDown, provider.Failed, provider.Lost, "failed on aap-ee-1: Task was canceled due to receiving a shutdown signal."},
		{hubsim.RunForever, provider.Running, provider.Open, "running on aap-ee-1"},
		{hubsim.NoAnnotation, provider.Succeeded, provider.Open, "successful"},
		{hubsim.PurgeJobs, provider.Unknown, provider.OK, "purged: the controller no longer knows the job"},
	} {
		t.Run(c.template, func(t *testing.T) {
			b := newBench(t, aapsim.Config{})
			s := b.until(t, b.launch(t, request("a-1", c.template, provider.Provision)), func(s provider.Status) bool { return s.State == c.state && s.Message == c.message })
			if s.Result != c.result {
				t.Fatalf("result %q, want %q", s.Result, c.result)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	b := newBench(t, aapsim.Config{})
	j := b.launch(t, request("a-1", hubsim.RunForever, provider.Provision))
	b.until(t, j, func(s provider.Status) bool { return s.State == provider.Running })
	if ack, err := b.aap.Cancel(t.Context(), j); ack != provider.Accepted || err != nil {
		t.Fatal(ack, err)
	}
	if s := b.until(t, j, over); s.State != provider.Canceled || s.Message != "canceled" {
		t.Fatalf("%+v", s)
	}
	if ack, err := b.aap.Cancel(t.Context(), j); ack != provider.AlreadyOver || err != nil { // 405
		t.Fatal(ack, err)
	}
	j.ID = "4711"
	if ack, err := b.aap.Cancel(t.Context(), j); ack != provider.Gone || err != nil { // 404
		t.Fatal(ack, err)
	}
}

// A workflow's jobs are found where they live; among the plain jobs they would look purged.
func TestWorkflowTemplate(t *testing.T) {
	b := newBench(t, aapsim.Config{Templates: []aapsim.Template{{ID: 21, Name: "osac-create-compute-instance", Workflow: true}}})
	j := b.launch(t, request("a-1", "ocp_virt_vm", provider.Provision))
	if s := b.until(t, j, over); j.Kind != "workflow_job" || s.State != provider.Succeeded {
		t.Fatalf("%+v %+v", j, s)
	}
}

func TestTemplateMissing(t *testing.T) {
	b := newBench(t, aapsim.Config{Templates: []aapsim.Template{{ID: 1, Name: "something-else"}}})
	_, err := b.aap.Launch(t.Context(), request("a-1", "ocp_virt_vm", provider.Provision))
	if provider.KindOf(err) != provider.TemplateMissing || provider.Ambiguous(err) {
		t.Fatal(err)
	}
}

// Every way to fail has its own name, never that of a missing template, and nothing that was sent is in
// the words.
func TestFaults(t *testing.T) {
	for fault, want := range map[aapsim.Fault]provider.Kind{
		aapsim.Expired: provider.Unauthorized, aapsim.Down: provider.ServerError, aapsim.Maintenance: provider.BadReply, aapsim.Truncated: provider.BadReply,
		aapsim.Huge: provider.TooLarge, aapsim.Slow: provider.TimedOut, aapsim.Limited: provider.RateLimited, aapsim.LostReply: provider.Cut,
	} {
		t.Run(string(fault), func(t *testing.T) {
			b := newBench(t, aapsim.Config{})
			b.sim.Break(fault)
			_, err := b.aap.Launch(t.Context(), request("a-1", "ocp_virt_vm", provider.Provision))
			if provider.KindOf(err) != want || provider.Ambiguous(err) { // the template was not even found
				t.Errorf("find template: %v", err)
			}
			if fault == aapsim.Limited && provider.RetryAfter(err) != time.Second {
				t.Errorf("retry after %s", provider.RetryAfter(err))
			}
			b.sim.Break(aapsim.None)
			j := b.launch(t, request("a-1", "ocp_virt_vm", provider.Provision))
			b.sim.Break(fault)
			_, err = b.aap.Poll(t.Context(), j)
			if provider.KindOf(err) != want {
				t.Errorf("poll: %v", err)
			}
			if text := err.Error(); strings.Contains(text, secret) || strings.Contains(text, "extra_vars") || strings.Contains(text, "xxxx") {
				t.Errorf("says too much: %s", text)
			}
		})
	}
}

func TestTLSAndAddress(t *testing.T) {
	b := newBench(t, aapsim.Config{})
	untrusting := b.next
	untrusting.API.CAFile = ""
	_, err := b.open(t, untrusting).Launch(t.Context(), request("a-1", "ocp_virt_vm", provider.Provision))
	if provider.KindOf(err) != provider.Unreachable || !strings.Contains(err.Error(), "x509") || provider.Ambiguous(err) {
		t.Errorf("TLS: %v", err)
	}
	away := b.next
	away.API.URL = "http://127.0.0.1:1/api"
	_, err = b.open(t, away).Launch(t.Context(), request("a-1", "ocp_virt_vm", provider.Provision))
	if provider.KindOf(err) != provider.Unreachable || !strings.Contains(err.Error(), "connection refused") || provider.Ambiguous(err) {
		t.Errorf("address: %v", err)
	}
}

// A launch whose answer is lost has happened; it is found again, behind other jobs, over several pages.
func TestAdopt(t *testing.T) {
	for _, fault := range []aapsim.Fault{aapsim.LostReply, aapsim.Gateway, aapsim.Truncated} {
		t.Run(string(fault), func(t *testing.T) {
			b := newBench(t, aapsim.Config{PageSize: 2})
			b.launch(t, request("a-0", "ocp_virt_vm", provider.Provision)) // the template is known from here on
			r, since := request("a-1", "ocp_virt_vm", provider.Provision), time.Now()
			b.sim.Break(fault)
			_, err := b.aap.Launch(t.Context(), r)
			if !provider.Ambiguous(err) {
				t.Fatal(err)
			}
			b.sim.Break(aapsim.None)
			for _, id := range []string{"a-2", "a-3", "a-4", "a-5", "a-6"} {
				b.launch(t, request(id, "ocp_virt_vm", provider.Provision))
			}
			l, found, sure, err := b.aap.Adopt(t.Context(), r, since)
			if err != nil || !found || !sure {
				t.Fatal(l, found, sure, err)
			}
			if s := b.until(t, provider.Job{Request: r, ID: l.ID, Kind: l.Kind}, over); s.Result != provider.OK || b.sim.Launches("a-1", false) != 1 {
				t.Fatalf("%+v", s)
			}
			r.Key = "another"
			if _, found, sure, err := b.aap.Adopt(t.Context(), r, since); found || !sure || err != nil {
				t.Fatal(found, sure, err)
			}
		})
	}
}

func TestCallerGoesAway(t *testing.T) {
	b := newBench(t, aapsim.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.aap.Launch(ctx, request("a-1", "ocp_virt_vm", provider.Provision)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// State and message stand on the resource together, whole, at every moment.
func TestProjectKeepsStateAndMessageInStep(t *testing.T) {
	b := newBench(t, aapsim.Config{})
	b.hub.Watch(func(r hub.Resource) {
		for _, j := range r.Status.ProvisioningJobs {
			if want := map[string]string{"Running": "running on aap-ee-1", "Canceled": "canceled"}[j.State]; want != j.Message {
				t.Errorf("state %s beside message %q", j.State, j.Message)
			}
		}
	})
	j := b.launch(t, request("a-1", hubsim.RunForever, provider.Provision))
	show := func(state provider.State) {
		t.Helper()
		s := b.until(t, j, func(s provider.Status) bool { return s.State == state })
		shown, err := b.aap.Project(t.Context(), j, s)
		if err != nil || shown.State != state || shown.Message != s.Message {
			t.Fatal(shown, err)
		}
		r, _ := b.hub.Resource("a-1")
		if all := r.Status.ProvisioningJobs; len(all) != 1 || all[0].State != string(state) || all[0].Message != s.Message || all[0].JobID != j.ID {
			t.Fatalf("%+v", all)
		}
	}
	show(provider.Running)
	if _, err := b.aap.Cancel(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	show(provider.Canceled)
}
