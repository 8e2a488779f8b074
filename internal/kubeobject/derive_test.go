package kubeobject_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/kubeobject"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

var seen = time.Date(2026, 2, 12, 10, 0, 0, 0, time.UTC)

func load(t testing.TB, name string) *profile.Profile {
	t.Helper()
	p, err := profile.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func body(text string) *record.Record {
	return &record.Record{Signal: record.Log, Time: seen.UnixNano(), Observed: seen.UnixNano(), Body: text,
		Resource: record.FromMap(map[string]string{"k8s.namespace.name": "vms"})}
}

// instance is a ComputeInstance as a watch tells it; meta and status are pieces of JSON.
func instance(watch, group, meta, status string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"apiVersion":"%s/v1alpha1","kind":"ComputeInstance","metadata":{"name":"vm-7f9k2","namespace":"vms",
		"uid":"0b7e","resourceVersion":"812","labels":{"%s/computeinstance-uuid":"019c-a"},
		"managedFields":[{"manager":"kubectl","time":"2026-02-12T09:58:00Z"},{"manager":"manager","time":"2026-02-12T09:59:30Z","subresource":"status"}]%s},
		"spec":{"templateID":"t.small","templateParameters":"{\"admin_password\":\"hunter2\"}"},"status":%s}}`, watch, group, group, meta, status)
}

// said lists events as "name attribute=value …" of the attributes that are asked for, sorted as given.
func said(events []*record.Record, name string, attributes ...string) []string {
	var out []string
	for _, e := range events {
		if e.Name != name {
			continue
		}
		var parts []string
		for _, a := range attributes {
			if v, ok := e.Attrs.Get(a); ok {
				parts = append(parts, v)
			}
		}
		out = append(out, strings.Join(parts, " "))
	}
	return out
}

func TestComputeInstanceStates(t *testing.T) {
	const (
		cloudkit, osac = "cloudkit.openshift.io", "osac.openshift.io"
		deleting       = `,"deletionTimestamp":"2026-02-12T09:59:00Z"`
		one            = `{"phase":%q,"provisionJob":{"id":"4711","state":%q}}`
		two            = `{"phase":"Deleting","provisionJob":{"id":"4711","state":%q},"deprovisionJob":{"id":"4712","state":%q,"message":"failed","blockDeletionOnFailure":true}}`
		list           = `{"phase":%q,"provisioningJobs":[{"jobID":"4700","type":"provision","state":"Failed"},{"jobID":"4711","type":"provision","state":%q}]}`
	)
	cases := []struct{ name, watch, group, meta, status, want string }{
		{"new", "ADDED", cloudkit, "", `{}`, "requested"},
		{"no job yet", "MODIFIED", cloudkit, "", `{"phase":"Progressing"}`, "requested"},
		{"the launch itself failed", "MODIFIED", cloudkit, "", `{"phase":"Progressing","provisionJob":{"state":"Failed"}}`, "requested"},
		{"launched, objects", "MODIFIED", cloudkit, "", fmt.Sprintf(one, "Progressing", "Pending"), "provisioning"},
		{"launched, jobs", "MODIFIED", osac, "", `{"phase":"Progressing","jobs":[{"id":"1","type":"provision","state":"Running"}]}`, "provisioning"},
		{"launched, provisioningJobs", "MODIFIED", osac, "", fmt.Sprintf(list, "Starting", "Running"), "provisioning"},
		{"ready", "MODIFIED", cloudkit, "", fmt.Sprintf(one, "Ready", "Succeeded"), "active"},
		{"ready by EDA, whose job stays unknown", "MODIFIED", cloudkit, "", `{"phase":"Ready","provisionJob":{"id":"eda-webhook","state":"Unknown"}}`, "active"},
		{"stopped by its user", "MODIFIED", osac, "", fmt.Sprintf(list, "Stopped", "Succeeded"), "active"},
		{"failed", "MODIFIED", osac, "", fmt.Sprintf(list, "Failed", "Failed"), "failed"},
		{"deleted while the job runs", "MODIFIED", cloudkit, deleting, fmt.Sprintf(one, "Deleting", "Running"), "canceling"},
		{"the phase lags behind the deletion", "MODIFIED", cloudkit, deleting, fmt.Sprintf(one, "Progressing", "Running"), "canceling"},
		{"the job is canceled", "MODIFIED", cloudkit, deleting, fmt.Sprintf(one, "Deleting", "Canceled"), "releasing"},
		{"taken down", "MODIFIED", cloudkit, deleting, fmt.Sprintf(two, "Canceled", "Running"), "releasing"},
		{"EDA, in use, deleted", "MODIFIED", cloudkit, deleting, `{"phase":"Deleting","reconciledConfigVersion":"ab","provisionJob":{"id":"eda-webhook","state":"Unknown"}}`, "releasing"},
		{"taking down failed", "MODIFIED", cloudkit, deleting, fmt.Sprintf(two, "Succeeded", "Failed"), "release_failed"},
		{"gone after use", "DELETED", cloudkit, deleting, fmt.Sprintf(two, "Succeeded", "Succeeded"), "released"},
		{"gone, never in use", "DELETED", cloudkit, deleting, fmt.Sprintf(two, "Canceled", "Succeeded"), "canceled"},
		{"gone by force: nothing proves the node gone", "DELETED", cloudkit, deleting, fmt.Sprintf(two, "Succeeded", "Failed"), ""},
	}
	for _, profileName := range []string{"osac", "default"} {
		p := load(t, profileName)
		for _, c := range cases {
			events, outcome := p.Objects().Derive(body(instance(c.watch, c.group, c.meta, c.status)))
			if outcome != kubeobject.Read {
				t.Fatalf("%s: %s", c.name, outcome)
			}
			var want []string
			if c.want != "" {
				want = []string{"019c-a " + c.want}
			}
			if d := cmp.Diff(want, said(events, "allocation.state", "allocation_id", "to")); d != "" {
				t.Errorf("%s: %s: %s", profileName, c.name, d)
			}
		}
	}
}

func TestJobs(t *testing.T) {
	p := load(t, "osac")
	events, _ := p.Objects().Derive(body(instance("MODIFIED", "osac.openshift.io", "", `{"phase":"Progressing","desiredConfigVersion":"d1","provisioningJobs":[
		{"jobID":"4700","type":"provision","state":"Failed"},
		{"jobID":"4711","type":"provision","state":"Running","message":"Failed to get job status: dial tcp 10.0.0.9:443: connect: no route to host"},
		{"jobID":"eda-webhook-2","type":"deprovision","state":"Unknown","configVersion":"d0","message":"EDA provider does not support status polling"}]}`)))
	if d := cmp.Diff([]string{"eda eda/default/webhook/eda-webhook-2/019c-a deprovision Unknown d0"},
		said(events, "provider_job.state", "provider", "provider_job", "operation", "to", "config_version")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"aap/default/job/4711 false Failed to get job status: dial tcp 10.0.0.9:443: connect: no route to host"},
		said(events, "provider_job.poll", "provider_job", "ok", "error")); d != "" {
		t.Error("a state that was not read anew was told as one", d)
	}
	if d := cmp.Diff([]string{
		"cr state Progressing",
		"cr job_state Unknown eda/default/webhook/eda-webhook-2/019c-a", "cr job_state Running aap/default/job/4711",
		"cr message EDA provider does not support status polling",
	}, said(events, "projection.observed", "projection", "field", "value", "provider_job")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"resource computeinstance/vms/vm-7f9k2 allocation 019c-a"}, said(events, "identity.binding", "subject_kind", "subject_id", "object_kind", "object_id")); d != "" {
		t.Error(d)
	}
	for _, e := range events {
		if at := time.Unix(0, e.Time).UTC().Format(time.RFC3339); at != "2026-02-12T09:59:30Z" || e.Service != "osac-operator" || e.Scope != kubeobject.Scope {
			t.Errorf("%s at %s by %s", e.Name, at, e.Service)
		}
	}
}

// TestReplay checks that the same version of an object, seen again by another watch, says nothing new.
func TestReplay(t *testing.T) {
	p := load(t, "osac")
	status := `{"phase":"Ready","jobs":[{"id":"7","type":"provision","state":"Succeeded"}]}`
	first, again := body(instance("MODIFIED", "osac.openshift.io", "", status)), body(instance("ADDED", "osac.openshift.io", "", status))
	again.Time, again.Observed = again.Time+int64(time.Hour), again.Observed+int64(time.Hour)
	a, _ := p.Objects().Derive(first)
	b, _ := p.Objects().Derive(again)
	if len(a) == 0 || len(a) != len(b) {
		t.Fatalf("%d and %d events", len(a), len(b))
	}
	keys := map[string]bool{}
	for i := range a {
		if a[i].Key() != b[i].Key() || a[i].Content() != b[i].Content() {
			t.Errorf("%s is another one when it is seen again", a[i].Name)
		}
		if keys[a[i].Key()] {
			t.Errorf("%s stands twice", a[i].Name)
		}
		keys[a[i].Key()] = true
	}
}

// TestBindingOfALife checks that every version of an object makes the same statement of whose it is.
func TestBindingOfALife(t *testing.T) {
	p := load(t, "osac")
	created := `,"creationTimestamp":"2026-02-12T09:57:00Z"`
	text := instance("ADDED", "osac.openshift.io", created, `{}`)
	first, _ := p.Objects().Derive(body(text))
	later, _ := p.Objects().Derive(body(strings.NewReplacer(`"812"`, `"950"`, "09:59:30", "10:30:00", "ADDED", "DELETED").Replace(text)))
	a, b := first[0], later[0]
	if a.Name != "identity.binding" || a.Key() != b.Key() || a.Content() != b.Content() {
		t.Errorf("%v\n%v", a, b)
	}
}

func TestHostAndMachine(t *testing.T) {
	p := load(t, "metal3")
	host := func(status, spec string) string {
		return `{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"host-0","namespace":"metal3","uid":"u1","resourceVersion":"5"},"spec":{` + spec + `},"status":{"lastUpdated":"2026-02-12T09:50:00Z",` + status + `}}`
	}
	occupancy := []struct{ status, spec, want string }{
		{`"provisioning":{"state":"available"}`, ``, "metal3/host-0 free"},
		{`"provisioning":{"state":"available"}`, `"consumerRef":{"kind":"Metal3Machine","name":"m"}`, "metal3/host-0 reserved"},
		{`"provisioning":{"state":"provisioned"}`, `"consumerRef":{"name":"m"}`, "metal3/host-0 occupied"},
		{`"provisioning":{"state":"deprovisioning"},"errorMessage":"clean failed","errorType":"provisioning error"`, ``, "metal3/host-0 cleanup clean failed"},
	}
	for _, c := range occupancy {
		events, outcome := p.Objects().Derive(body(host(c.status, c.spec)))
		if d := cmp.Diff([]string{c.want}, said(events, "node.occupancy", "node_id", "to", "reason")); d != "" {
			t.Error(outcome, d)
		}
	}
	machine := func(watch, phase, meta string) string {
		return `{"type":"` + watch + `","object":{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","metadata":{"name":"m-1","namespace":"metal3","uid":"alloc-1","resourceVersion":"9"` + meta + `},
		"spec":{"providerID":"metal3://metal3/host-0/m-1-infra","infrastructureRef":{"kind":"Metal3Machine","name":"m-1-infra"}},
		"status":{"phase":"` + phase + `","nodeRef":{"name":"worker-0"},"nodeInfo":{"machineID":"mid-1","bootID":"boot-1"},"conditions":[{"type":"Deleting","status":"True","reason":"DrainingNode"}]}}}`
	}
	x := identity.New(identity.Options{})
	learn := func(text string, minute int) {
		r := body(text)
		r.Time += int64(minute) * int64(time.Minute)
		events, _ := p.Objects().Derive(r)
		for _, e := range events {
			e.Keys = p.Keys(e)
			if err := e.Learn(x); err != nil {
				t.Error(e.Name, err)
			}
		}
		if minute == 20 {
			if d := cmp.Diff([]string{"alloc-1 releasing DrainingNode"}, said(events, "allocation.state", "allocation_id", "to", "reason")); d != "" {
				t.Error(d)
			}
		}
	}
	learn(host(`"provisioning":{"state":"provisioned","ID":"4ef0"}`, ``), 0)
	learn(machine("MODIFIED", "Running", ""), 0)
	learn(machine("MODIFIED", "Running", ""), 10)
	learn(machine("MODIFIED", "Deleting", `,"deletionTimestamp":"2026-02-12T10:20:00Z"`), 20)
	learn(machine("DELETED", "Deleting", `,"deletionTimestamp":"2026-02-12T10:20:00Z"`), 30)
	resolve := func(k identity.Kind, id string, minute int) identity.Resolution {
		at := seen.Add(time.Duration(minute) * time.Minute).UnixNano()
		return x.Resolve(identity.Keys{{Kind: k, ID: id}}, at, at)
	}
	for _, c := range []struct {
		kind       identity.Kind
		id         string
		minute     int
		node, want string
	}{
		{identity.Node, "metal3/host-0", 15, "metal3/host-0", "alloc-1"},
		{identity.Node, "metal3/host-0", 31, "metal3/host-0", ""},
		{identity.Resource, "machine/metal3/m-1", 40, "", "alloc-1"},
		{identity.Resource, "metal3machine/metal3/m-1-infra", 15, "", "alloc-1"},
		{identity.Boot, "boot-1", 15, "metal3/host-0", "alloc-1"},
	} {
		if r := resolve(c.kind, c.id, c.minute); r.Allocation != c.want || c.node != "" && r.Node != c.node {
			t.Errorf("%s %s at minute %d is %q on %q, want %q on %q", c.kind, c.id, c.minute, r.Allocation, r.Node, c.want, c.node)
		}
	}
}

func TestWhatIsNoObject(t *testing.T) {
	p := load(t, "")
	for text, want := range map[string]kubeobject.Outcome{
		`reconciled`:                    kubeobject.None,
		`{"msg":"apiVersion metadata"}`: kubeobject.None,
		`{"type":"PullEnd","object":{"kind":"computeinstances"}}`:                                                                        kubeobject.None,
		`{"apiVersion":"v1","kind":"Secret","metadata":{"uid":"1","resourceVersion":"1"},"data":{"p":"aHVudGVyMg=="}}`:                   kubeobject.Unknown,
		`{"apiVersion":"example.com/v1","kind":"ComputeInstance","metadata":{"uid":"1","resourceVersion":"1"}}`:                          kubeobject.Unknown,
		`{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"x"}}`:                                             kubeobject.Broken,
		`{"type":"ERROR","object":{"apiVersion":"v1","kind":"Status","metadata":{},"reason":"Expired"}}`:                                 kubeobject.Unknown,
		`{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"uid":"1","resourceVersion":"1"},"status":[],"spec":"x"}`: kubeobject.Read,
	} {
		r := body(text)
		if _, got := p.Objects().Derive(r); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if r.Body != text {
			t.Error("the record was touched")
		}
	}
	long := body(instance("ADDED", "osac.openshift.io", "", `{"x":"`+strings.Repeat("x", kubeobject.MaxBodyBytes)+`"}`))
	if _, got := p.Objects().Derive(long); got != kubeobject.None {
		t.Error("a body over the bound was read")
	}
}

// TestHostileObject checks that one object cannot become a flood.
func TestHostileObject(t *testing.T) {
	p := load(t, "osac")
	var jobs []string
	for i := range 5000 {
		jobs = append(jobs, fmt.Sprintf(`{"jobID":"%d","type":"t%d","state":"Running","message":%q}`, i, i, strings.Repeat("password=x ", 20)))
	}
	events, _ := p.Objects().Derive(body(instance("ADDED", "osac.openshift.io", "", `{"jobs":[`+strings.Join(jobs, ",")+`]}`)))
	if len(events) > kubeobject.MaxEvents {
		t.Errorf("%d events", len(events))
	}
	long := strings.NewReplacer("vm-7f9k2", strings.Repeat("v", 100_000)).Replace(instance("ADDED", "osac.openshift.io", "", `{"phase":"`+strings.Repeat("p", 100_000)+`"}`))
	events, _ = p.Objects().Derive(body(long))
	for _, e := range events {
		for _, a := range e.Attrs {
			if len(a.Value) > 2048 {
				t.Errorf("%s: %s has %d bytes", e.Name, a.Key, len(a.Value))
			}
		}
	}
	if _, outcome := p.Objects().Derive(body(strings.Replace(long, `"0b7e"`, `"`+strings.Repeat("u", 1000)+`"`, 1))); outcome != kubeobject.Broken {
		t.Errorf("a uid of 1000 bytes: %s", outcome)
	}
}

// TestNoSecrets checks that what controllers should not have written into messages goes no further.
func TestNoSecrets(t *testing.T) {
	p := load(t, "osac")
	for _, message := range []string{
		`launch failed: {"extra_vars": {"admin_kubeconfig": "hunter2"}}`,
		`POST https://user:hunter2@aap/api/v2: 401`,
		`header Authorization: Bearer hunter2hunter2 rejected`,
		`password=hunter2 is wrong`, `{"token": "hunter2"}`,
		`eyJhbGciOiJSUzI1NiJ9.hunter2.hunter2`,
	} {
		quoted, _ := json.Marshal(message)
		events, _ := p.Objects().Derive(body(instance("MODIFIED", "osac.openshift.io", "", `{"phase":"Failed","jobs":[{"id":"7","type":"provision","state":"Failed","message":`+string(quoted)+`}]}`)))
		if len(said(events, "provider_job.state", "provider_explanation")) != 1 {
			t.Fatal("no event")
		}
		for _, e := range events {
			for _, a := range e.Attrs {
				if strings.Contains(a.Value, "hunter2") {
					t.Errorf("%s: %s = %s", message, a.Key, a.Value)
				}
			}
		}
	}
}

func FuzzDerive(f *testing.F) {
	f.Add(instance("MODIFIED", "osac.openshift.io", "", `{"phase":"Ready","jobs":[{"id":7,"type":"provision","state":"Succeeded"}]}`))
	f.Add(`{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"x","uid":"1","resourceVersion":"1"},"status":{"provisioning":{"state":"available"}}}`)
	p := load(f, "")
	f.Fuzz(func(t *testing.T, text string) {
		events, outcome := p.Objects().Derive(body(text))
		if outcome != kubeobject.Read && len(events) > 0 {
			t.Errorf("%d events of what is %s", len(events), outcome)
		}
		for _, e := range events {
			if id, _ := e.Attrs.Get("event_id"); id == "" || !e.IsEvent() {
				t.Errorf("no event: %+v", e)
			}
			for _, k := range p.Keys(e) {
				if !identity.ValidID(k.ID) {
					t.Errorf("no identifier: %v", k)
				}
			}
		}
	})
}

func FuzzPath(f *testing.F) {
	f.Add(`status.conditions[type=Ready].message`)
	f.Add(`@resource["k8s.cluster.name"]`)
	f.Fuzz(func(_ *testing.T, text string) {
		d := kubeobject.Document{Kind: "X", Groups: kubeobject.Words{"g"}, Events: []kubeobject.Event{{Name: "heartbeat",
			Attributes: map[string]kubeobject.Expression{"to": {Path: kubeobject.Words{text}}, "reason": {Text: text}}}}}
		m := d.Compile(func([]any, error) {})
		_, _ = kubeobject.Mappings{m}.Derive(&record.Record{Signal: record.Log, Body: `{"apiVersion":"g/v1","kind":"X","metadata":{"uid":"1","resourceVersion":"1"}}`})
	})
}
