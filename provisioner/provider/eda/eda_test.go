package eda_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/lab/edasim"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/eda"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type bench struct {
	hub *hubsim.Hub
	sim *edasim.Activation
	eda *eda.Webhook
}

func newBench(t *testing.T, c edasim.Config, change func(*eda.Config)) *bench {
	t.Helper()
	b := &bench{hub: hubsim.New("")}
	b.sim = edasim.New(c, b.hub, nil)
	webhook, hubAPI := httptest.NewServer(b.sim.Handler()), httptest.NewServer(b.hub.Handler())
	e := eda.DefaultConfig()
	e.Webhook.URL, e.Webhook.Token, e.Hub.URL = webhook.URL, c.Token, hubAPI.URL
	if change != nil {
		change(&e)
	}
	var err error
	if b.eda, err = eda.Open(e, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.sim.Close(); b.eda.Close(); webhook.Close(); hubAPI.Close() })
	return b
}

func request(operation string) provider.Request {
	return requestFor("ocp_virt_vm", operation)
}

func requestFor(template, operation string) provider.Request {
	version := provider.ConfigVersion(template, "p")
	return provider.Request{Key: "k/" + operation, AllocationID: "a-1", Operation: operation, ConfigVersion: version, Pool: "p", Template: template}
}

func (b *bench) launch(t *testing.T, r provider.Request) provider.Job {
	t.Helper()
	l, err := b.eda.Launch(t.Context(), r)
	if err != nil || l.ID != "eda-webhook" {
		t.Fatal(l, err)
	}
	return provider.Job{Request: r, ID: l.ID, Kind: l.Kind}
}

func (b *bench) until(t *testing.T, j provider.Job, ok func(provider.Status) bool) provider.Status {
	t.Helper()
	var s provider.Status
	for range 400 {
		var err error
		if s, err = b.eda.Poll(t.Context(), j); err != nil {
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

// Unknown is healthy: the resource is ready, and the job's state is Unknown for ever.
func TestProvisionAndDeprovision(t *testing.T) {
	b := newBench(t, edasim.Config{Token: "x"}, nil)
	s := b.until(t, b.launch(t, request(provider.Provision)), over)
	if s.State != provider.Unknown || s.Result != provider.OK || s.Observed != provider.ObservedRunning {
		t.Fatalf("%+v", s)
	}
	s = b.until(t, b.launch(t, request(provider.Deprovision)), over)
	if s.State != provider.Succeeded || s.Observed != provider.ObservedAbsent || len(b.hub.VirtualMachines("a-1")) != 0 {
		t.Fatalf("%+v", s)
	}
}

// 200 is only "queued": a path that no rule knows, or an activation that stops, loses the event.
func TestAcceptedAndLost(t *testing.T) {
	typo := newBench(t, edasim.Config{}, func(c *eda.Config) { c.Create = "/create-vm" })
	stopped := newBench(t, edasim.Config{}, nil)
	stopped.sim.Break(edasim.Stopped)
	for _, b := range []*bench{typo, stopped} {
		j := b.launch(t, request(provider.Provision))
		time.Sleep(30 * time.Millisecond)
		if s, err := b.eda.Poll(t.Context(), j); err != nil || s.State != provider.Unknown || s.Result != provider.Open {
			t.Fatal(s, err)
		}
	}
	if typo.sim.Unmatched() != 1 {
		t.Error("the rulebook has seen no stray event")
	}
}

// A create whose playbook leaves no mark in its time was lost; one whose playbook has begun is waited for.
func TestNeverBegun(t *testing.T) {
	b := newBench(t, edasim.Config{}, func(c *eda.Config) { c.BeginTime, c.Settle = time.Minute, time.Second })
	b.sim.Break(edasim.Stopped)
	j := b.launch(t, request(provider.Provision))
	for age, want := range map[time.Duration]provider.Result{59 * time.Second: provider.Open, time.Minute: provider.Lost} {
		j.Age = age
		s, err := b.eda.Poll(t.Context(), j)
		if err != nil || s.Result != want || s.State != provider.Unknown {
			t.Errorf("after %s: %+v, %v", age, s, err)
		}
	}
	begun := newBench(t, edasim.Config{}, func(c *eda.Config) { c.BeginTime, c.Settle = time.Minute, time.Second })
	j = begun.launch(t, requestFor(hubsim.NoAnnotation, provider.Provision))
	begun.until(t, j, func(provider.Status) bool { return len(begun.hub.VirtualMachines("a-1")) == 1 })
	j.Age = time.Hour
	if s, err := begun.eda.Poll(t.Context(), j); err != nil || s.Result != provider.Open {
		t.Errorf("a playbook that has begun: %+v, %v", s, err)
	}
}

func TestAnnotationNeverSet(t *testing.T) {
	b := newBench(t, edasim.Config{}, nil)
	j := b.launch(t, requestFor(hubsim.NoAnnotation, provider.Provision))
	time.Sleep(30 * time.Millisecond)
	if s, err := b.eda.Poll(t.Context(), j); err != nil || s.Result != provider.Open || len(b.hub.VirtualMachines("a-1")) != 1 {
		t.Fatal(s, err)
	}
}

// Deleting before the create playbook has begun is skipping; the playbook that begins later finds the
// resource going and leaves no virtual machine behind.
func TestSkippedLeavesNoOrphan(t *testing.T) {
	b := newBench(t, edasim.Config{Queue: 50 * time.Millisecond}, nil)
	b.launch(t, request(provider.Provision))
	l, err := b.eda.Launch(t.Context(), request(provider.Deprovision))
	if err != nil || !l.Skipped || l.Status.Observed != provider.ObservedAbsent {
		t.Fatal(l, err)
	}
	time.Sleep(150 * time.Millisecond)
	if n := b.hub.VirtualMachines("a-1"); len(n) != 0 || b.sim.Matched("a-1", true) != 0 {
		t.Fatalf("orphans: %v", n)
	}
}

func TestLostReplyIsAmbiguous(t *testing.T) {
	b := newBench(t, edasim.Config{}, nil)
	b.sim.Break(edasim.LostReply)
	_, err := b.eda.Launch(t.Context(), request(provider.Provision))
	if provider.KindOf(err) != provider.Cut || !provider.Ambiguous(err) {
		t.Fatal(err)
	}
	time.Sleep(30 * time.Millisecond)
	l, found, _, err := b.eda.Adopt(t.Context(), request(provider.Provision), time.Now())
	if err != nil || !found || l.Status.State != provider.Unknown {
		t.Fatal(l, found, err)
	}
}

func TestClearRefusals(t *testing.T) {
	for fault, want := range map[edasim.Fault]provider.Kind{edasim.WrongPort: provider.NotAllowed, edasim.Down: provider.ServerError} {
		b := newBench(t, edasim.Config{}, nil)
		b.sim.Break(fault)
		if _, err := b.eda.Launch(t.Context(), request(provider.Provision)); provider.KindOf(err) != want {
			t.Errorf("%s: %v", fault, err)
		}
	}
	b := newBench(t, edasim.Config{Token: "right"}, func(c *eda.Config) { c.Webhook.Token = "wrong" })
	if _, err := b.eda.Launch(t.Context(), request(provider.Provision)); provider.KindOf(err) != provider.Unauthorized || provider.Ambiguous(err) {
		t.Error(err)
	}
	if _, err := b.eda.Cancel(t.Context(), provider.Job{}); provider.KindOf(err) != provider.NotAllowed {
		t.Error(err)
	}
}
