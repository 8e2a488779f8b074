package identityprocessor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/kubeobject"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// watched is a custom resource as a watch tells it: under a resource without a service.
func watched(body any) plog.Logs {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("k8s.namespace.name", "vms")
	lr := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	lr.SetObservedTimestamp(at(0))
	lr.Attributes().PutStr("k8s.resource.name", "computeinstances")
	if text, ok := body.(string); ok {
		lr.Body().SetStr(text)
	} else if err := lr.Body().FromRaw(body); err != nil {
		panic(err)
	}
	return ld
}

func instance(state string) map[string]any {
	return map[string]any{"type": "MODIFIED", "object": map[string]any{
		"apiVersion": "osac.openshift.io/v1alpha1", "kind": "ComputeInstance",
		"metadata": map[string]any{
			"name": "vm-1", "namespace": "vms", "uid": "u-1", "resourceVersion": "17", "generation": int64(2),
			"labels":        map[string]any{"osac.openshift.io/computeinstance-uuid": "a-1"},
			"managedFields": []any{map[string]any{"time": "2026-03-02T11:59:00Z"}},
		},
		"status": map[string]any{"phase": "Starting", "provisioningJobs": []any{
			map[string]any{"jobID": "4711", "type": "provision", "state": state},
		}},
	}}
}

func records(ld plog.Logs) []*record.Record {
	var out []*record.Record
	otlp.Logs(ld, func(r *record.Record) bool { out = append(out, r); return true })
	return out
}

func TestObjectsBecomeEvents(t *testing.T) {
	b := newBench(t)
	before := records(watched(instance("Running")))[0]
	out := records(b.logs(watched(instance("Running"))))
	if d := cmp.Diff(before.Body, out[0].Body); d != "" || out[0].Service != "" {
		t.Errorf("the object's own record was touched: %s", d)
	}
	states := 0
	for _, r := range out[1:] {
		if r.Scope != kubeobject.Scope || r.Service != "osac-operator" || r.Attr("allocation_id") != "a-1" || r.Attr("k8s.namespace.name") != "vms" {
			t.Errorf("%s: scope %q, service %q, %v", r.Name, r.Scope, r.Service, r.Attrs)
		}
		if r.Name == "allocation.state" && r.Attr("to") == "provisioning" && r.Time == int64(at(-1)) {
			states++
		}
	}
	if states != 1 {
		t.Errorf("%d states among %d records", states, len(out))
	}
	// What is read out of the stored record is what was sent: a duplicate, not a conflict.
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := p.Objects().Derive(before)
	if len(again) != len(out)-1 {
		t.Fatalf("%d events of the file, %d of the pipeline", len(again), len(out)-1)
	}
	for i, r := range again {
		if r.Key() != out[i+1].Key() || r.Content() != out[i+1].Content() {
			t.Errorf("%s differs: %v, %v", r.Name, r.Attrs, out[i+1].Attrs)
		}
	}
	if n := b.sum("faultline_identity_objects_total", "read"); n != 1 {
		t.Errorf("read: %d", n)
	}
}

func TestObjectsResolveTheControllersLines(t *testing.T) {
	b := newBench(t)
	ld := watched(instance("Running"))
	line(0, "osac-operator", attrs{})(ld.ResourceLogs().AppendEmpty())
	lr := ld.ResourceLogs().At(1).ScopeLogs().At(0).LogRecords().At(0)
	lr.Body().SetStr(`{"level":"info","msg":"provision job triggered","controller":"computeinstance","controllerGroup":"osac.openshift.io","controllerKind":"ComputeInstance","ComputeInstance":{"name":"vm-1","namespace":"vms"},"namespace":"vms","name":"vm-1","reconcileID":"6f1c2a34-0d1e-4b7a-9c55-0242ac120002","jobID":"4711"}`)
	for _, r := range records(b.logs(ld)) {
		if strings.Contains(r.Body, "provision job triggered") {
			if id, _ := r.Stamped.Get("allocation_id"); id != "a-1" {
				t.Errorf("the operator's line is %q: %v", id, r.Stamped)
			}
		}
	}
}

func TestUnknownObjectsPass(t *testing.T) {
	b := newBench(t)
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p", "uid": "u", "resourceVersion": "1"}}
	if out := records(b.logs(watched(pod))); len(out) != 1 {
		t.Errorf("%d records came out", len(out))
	}
	if out := records(b.logs(watched(`{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"h"}}`))); len(out) != 1 {
		t.Errorf("%d records came out", len(out))
	}
	if n := b.sum("faultline_identity_objects_total", "kind_unknown"); n != 1 {
		t.Errorf("unknown: %d", n)
	}
	if n := b.sum("faultline_identity_objects_total", "broken"); n != 1 {
		t.Errorf("broken: %d", n)
	}
}

// What an object must not tell the store does not leave the processor, in any form and with any profile;
// the same record is one record, whether it came this way or from a file.
func TestObjectsAreWithheld(t *testing.T) {
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "uid": "u", "resourceVersion": "1"}, "data": map[string]any{"k": "hunter2"}}
	text := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","uid":"u","resourceVersion":"1"},"data":{"k":"hunter2"}}`
	for _, name := range []string{"default", "openstack"} {
		b := newBench(t)
		b.cfg.Profile = name
		for _, body := range []any{secret, map[string]any{"type": "ADDED", "object": secret}, text} {
			before := records(watched(body))[0]
			passed := b.logs(watched(body))
			if raw := passed.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().AsString(); strings.Contains(raw, "hunter2") || !strings.Contains(raw, `"s"`) {
				t.Errorf("%s: passed on: %s", name, raw)
			}
			after := records(passed)[0]
			if strings.Contains(before.Body+after.Body, "hunter2") || before.Key() != after.Key() {
				t.Errorf("%s: %q from a file, %q from here", name, before.Body, after.Body)
			}
		}
		if n := b.sum("faultline_identity_objects_withheld_total", ""); n != 3 {
			t.Errorf("%s: counted %d", name, n)
		}
	}
}
