package profile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// TestPlatformLines reads lines as these programs print them, with the platform's own profile and with
// the default one, which is their union.
func TestPlatformLines(t *testing.T) {
	const (
		uuid   = "019c5a77-2f6e-7c1d-9a3b-5d1f0f6b2a10"
		pass   = "6f1c2a34-0d1e-4b7a-9c55-0242ac120002"
		ironic = "4ef0c2b1-6a52-4c0e-8f0e-2f4f8f3f9c11"
		trace  = "0af7651916cd43dd8448eb211c80319c"
	)
	type keys = identity.Keys
	cases := []struct {
		profile, name, service, line string
		attrs                        map[string]string
		want                         keys
	}{
		{
			"osac", "operator, zap JSON", "osac-operator",
			`{"level":"info","ts":"2026-02-12T10:00:02Z","msg":"provision job triggered","controller":"computeinstance","controllerGroup":"cloudkit.openshift.io","controllerKind":"ComputeInstance","ComputeInstance":{"name":"vm-7f9k2","namespace":"cloudkit-vms"},"namespace":"cloudkit-vms","name":"vm-7f9k2","reconcileID":"` + pass + `","jobID":"4711","provider":"aap"}`,
			nil,
			keys{{Kind: identity.Request, ID: pass}, {Kind: identity.Resource, ID: "computeinstance/cloudkit-vms/vm-7f9k2"}, {Kind: identity.ProviderJob, ID: "aap/default/job/4711"}},
		},
		{
			"osac", "operator, zap console", "cloudkit-operator",
			"2026-02-12T10:00:32Z\tERROR\tReconciler error\t" + `{"controller": "computeinstance", "controllerGroup": "cloudkit.openshift.io", "controllerKind": "ComputeInstance", "ComputeInstance": {"name":"vm-7f9k2","namespace":"cloudkit-vms"}, "namespace": "cloudkit-vms", "name": "vm-7f9k2", "reconcileID": "` + pass + `", "error": "failed to get template: template osac-create-compute-instance not found as job_templates or workflow_job_templates"}`,
			nil,
			keys{{Kind: identity.Request, ID: pass}, {Kind: identity.Resource, ID: "computeinstance/cloudkit-vms/vm-7f9k2"}},
		},
		{
			"osac", "operator, parsed on the way", "osac-operator", "provision job status changed",
			map[string]string{"ComputeInstance": `{"name":"vm-7f9k2","namespace":"cloudkit-vms"}`, "reconcileID": pass, "jobID": "4711", "oldState": "Pending", "newState": "Running"},
			keys{{Kind: identity.Request, ID: pass}, {Kind: identity.Resource, ID: "computeinstance/cloudkit-vms/vm-7f9k2"}, {Kind: identity.ProviderJob, ID: "aap/default/job/4711"}},
		},
		{
			"osac", "somebody else's job number", "scheduler", "job started", map[string]string{"jobID": "4711"}, nil,
		},
		{
			"osac", "AAP's access log", "aap-controller",
			`10.130.0.17 - - [12/Feb/2026:10:00:32 +0000] "GET /api/controller/v2/jobs/4711/ HTTP/1.1" 200 1843 "-" "Go-http-client/2.0" "-"`, nil,
			keys{{Kind: identity.ProviderJob, ID: "aap/default/job/4711"}},
		},
		{
			"osac", "AAP's task manager", "automation-controller-task",
			`2026-02-12 10:00:03,114 INFO     [2f1c9e0a7b1d4ad39b] awx.main.commands.run_callback_receiver Starting EOF event processing for Job 4711`, nil, nil,
		},
		{
			"osac", "AAP's dispatcher", "automation-controller-task",
			`2026-02-12 10:00:03,114 DEBUG    [-] awx.main.dispatch job 4711 (running) reaped`, nil,
			keys{{Kind: identity.ProviderJob, ID: "aap/default/job/4711"}},
		},
		{
			"osac", "the gateway's path", "fulfillment-rest-gateway", `handled request method=GET path=/api/fulfillment/v1/compute_instances/` + uuid + ` code=200`, nil,
			keys{{Kind: identity.Allocation, ID: uuid}},
		},
		{
			"gpuaas", "worker, one JSON object a line", "provisioning-worker",
			`{"timestamp":"2026-03-02T10:00:01Z","level":"info","service":"provisioning-worker","correlation_id":"c-77","trace_id":"` + trace + `","span_id":"b7ad6b7169203331","org_id":"o-1","project_id":"p-1","error_code":"","resource_name":"allocation","allocation_id":"a-91","task_id":"t-5","claim_id":null,"message":"task dispatched"}`,
			nil,
			keys{{Kind: identity.Correlation, ID: "c-77"}, {Kind: identity.Trace, ID: trace}, {Kind: identity.Allocation, ID: "a-91"}, {Kind: identity.Task, ID: "t-5"}},
		},
		{
			"gpuaas", "agent, key=value", "node-agent", `level=warn msg="task wait failed: remote error: tls: unknown certificate authority" node_id=gpu-17 task_id= correlation_id=none url=https://node-api/internal/v1/nodes/gpu-17/tasks/wait`, nil,
			keys{{Kind: identity.Node, ID: "gpu-17"}},
		},
		{
			"gpuaas", "the proxy's line", "traefik",
			`10.0.4.17 - - [02/Mar/2026:10:04:11 +0000] "POST /internal/v1/nodes/gpu-17/tasks/t-5/result HTTP/2.0" 401 32 "-" "-" 912 "node-api@docker" "http://10.0.1.9:8080" 3ms`, nil,
			keys{{Kind: identity.Node, ID: "gpu-17"}, {Kind: identity.Task, ID: "t-5"}},
		},
		{
			"gpuaas", "force release", "gpuaas-api", `POST /api/v1/admin/allocations/a-91/force-release 202 actor=ops@example`, nil,
			keys{{Kind: identity.Allocation, ID: "a-91"}},
		},
		{
			"gpuaas", "enrolment names no node", "node-api", `POST /internal/v1/nodes/enroll 201 old_allocation_id=a-90`, nil, nil,
		},
		{
			"gpuaas", "a line that names two", "orchestrator", `node_id=gpu-17 was taken from allocation_id=a-1 for allocation_id=a-2`, nil,
			keys{{Kind: identity.Node, ID: "gpu-17"}},
		},
		{
			"gpuaas", "a line that quotes another's", "orchestrator", `peer node_id=gpu-18 holds allocation_id=a-2 /api/v1/allocations/a-3`,
			map[string]string{"allocation_id": "a-1", "node_id": "gpu-17"},
			keys{{Kind: identity.Allocation, ID: "a-1"}, {Kind: identity.Node, ID: "gpu-17"}},
		},
		{
			"metal3", "bare metal operator", "baremetal-operator",
			`{"level":"info","ts":1770890402.12,"logger":"controllers.BareMetalHost","msg":"registering and validating access to management controller","baremetalhost":{"name":"host-0","namespace":"metal3"},"provisioningState":"registering","credentials":{"credentials":{"name":"host-0-bmc","namespace":"metal3"}}}`,
			nil, keys{{Kind: identity.Node, ID: "metal3/host-0"}},
		},
		{
			"metal3", "its provisioner", "baremetal-operator",
			`{"level":"info","ts":1770890402.12,"logger":"provisioner.ironic","msg":"changing provisioning state","host":"metal3~host-0","current":"manageable","existing target":"","new target":"active"}`,
			nil, keys{{Kind: identity.Node, ID: "metal3/host-0"}},
		},
		{
			"metal3", "Ironic", "ironic",
			`2026-02-12 10:00:31.501 1 ERROR ironic.conductor.utils [None req-5d4fa9be-3b3f-4f3c-8d2b-7a6a3f0f0f2c - - - - - -] Clean step failed for node ` + ironic + `. Error: timeout reached while waiting for callback`,
			nil, keys{{Kind: identity.Resource, ID: "ironic/" + ironic}},
		},
		{
			"metal3", "Cluster API, klog", "capi-controller-manager",
			`E0212 10:00:31.501123       1 controller.go:329] "Reconciler error" err="failed to drain" controller="machine" controllerGroup="cluster.x-k8s.io" controllerKind="Machine" Machine="metal3/m-1" namespace="metal3" name="m-1" reconcileID="` + pass + `"`,
			nil, keys{{Kind: identity.Request, ID: pass}, {Kind: identity.Resource, ID: "machine/metal3/m-1"}},
		},
	}
	for _, c := range cases {
		for _, name := range []string{c.profile, profile.Default} {
			p := load(t, name)
			r := record.Record{Signal: record.Log, Service: c.service, Body: c.line, Attrs: record.FromMap(c.attrs)}
			if d := cmp.Diff(c.want, p.Keys(&r)); d != "" {
				t.Errorf("%s with %s: %s", c.name, name, d)
			}
		}
	}
}

func TestPlatformLayers(t *testing.T) {
	none := func(string) string { return "" }
	for _, c := range []struct{ profile, service, want string }{
		{"osac", "osac-operator-controller-manager", "workflow"},
		{"osac", "authorino", "api_auth"},
		{"osac", "fulfillment-grpc-server", "api"},
		{"osac", "automation-controller-web", "provider"},
		{"gpuaas", "traefik-node-api", "ingress"},
		{"gpuaas", "temporal-worker", "workflow"},
		{"gpuaas", "outbox-relay", "outbox"},
		{"metal3", "ironic-conductor", "provider"},
		{"metal3", "capm3-controller-manager", "workflow"},
		{"metal3", "ironic-python-agent", "node_agent"},
	} {
		for _, name := range []string{c.profile, profile.Default} {
			if got := load(t, name).Layer(c.service, "", none); got != c.want {
				t.Errorf("%s: %s is in layer %q, want %q", name, c.service, got, c.want)
			}
		}
	}
	feedback := func(k string) string { return map[string]string{"controller": "computeinstance-feedback"}[k] }
	if got := load(t, "osac").Layer("osac-operator", "", feedback); got != "projection" {
		t.Errorf("the feedback controller is in layer %q", got)
	}
}

// TestViews checks that a word which stands for several states is never taken for one of them.
func TestViews(t *testing.T) {
	p := load(t, "")
	for _, c := range []struct{ projection, field, value, state string }{
		{"cr", "state", "Ready", "active"},
		{"cr", "state", "Deleting", ""},
		{"cr", "state", "Stopped", "active"},
		{"machine", "state", "Provisioned", "provisioning"},
		{"ui", "state", "Deleting", "releasing"},
		{"ui", "job_state", "Error", "failed"},
		{"cr", "state", "Levitating", ""},
	} {
		if state, mapped := p.Shown(c.projection, c.field, c.value); state != c.state || mapped != (c.state != "") {
			t.Errorf("%s %s %s stands for %q (%v), want %q", c.projection, c.field, c.value, state, mapped, c.state)
		}
	}
	for state, want := range map[string]bool{"canceling": true, "release_failed": true, "active": false} {
		if may, known := p.Stands("cr", "state", "Deleting", state); may != want || !known {
			t.Errorf("Deleting may stand for %s: %v, %v", state, may, known)
		}
	}
}

// TestErrorsOfMeaningNameTheLine checks the line of what is well-formed and cannot be meant.
func TestErrorsOfMeaningNameTheLine(t *testing.T) {
	const head = "name: x\nlayers: [a]\n"
	for _, c := range []struct{ text, want string }{
		{"catalog:\n  - {layer: a, services: [s]}\n  - layer: b\n    services: [s]\n", `p.yaml:5: catalog[1]: layer "b"`},
		{"owners:\n  a: {team: t}\n  c: {team: t}\n", `p.yaml:5: owners.c: "c" is not among layers`},
		{"node_sharing: some\n", "p.yaml:3: node_sharing:"},
		{"extract:\n  attributes:\n    foo: allocation_id\n    bar: nothing\n", `p.yaml:6: extract.attributes.bar: "nothing" is no identifier key`},
		{"extract:\n  fields:\n    - allocation_id\n    - colour\n", `p.yaml:6: extract.fields[1]: "colour"`},
		{"extract:\n  patterns:\n    - kind: request\n      contains: [r]\n      regexp: '('\n", "p.yaml:7: extract.patterns[0].regexp: error parsing"},
		{"extract:\n  patterns:\n    - kind: request\n      contains: []\n      regexp: 'r'\n", "p.yaml:6: extract.patterns[0].contains: contains is empty"},
		{"extract:\n  patterns:\n    - kind: request\n      regexp: 'r'\n", "p.yaml:5: extract.patterns[0].contains: contains is empty"},
		{"extract:\n  ignore:\n    - {contains: [a], regexp: '['}\n", "p.yaml:5: extract.ignore[0].regexp: error parsing"},
		{"objects:\n  - kind: Secret\n    groups: [v1]\n", "p.yaml:4: objects[0].kind: Secret holds"},
		{"objects:\n  - kind: Pod\n    groups: [g]\n    events:\n      - name: allocation.state\n", "p.yaml:7: objects[0].events[0]: allocation.state needs the attribute allocation_id"},
		{"objects:\n  - kind: Pod\n    groups: [g]\n    identifiers:\n      node_id: {path: spec.userDataSecretRef}\n", "p.yaml:7: objects[0].identifiers.node_id: path"},
		{"objects:\n  - kind: Pod\n    groups: [g]\n    events:\n      - name: node.occupancy\n        when: [{path: a}]\n        attributes: {node_id: {path: 'a..b'}, to: {}}\n", `objects[0].events[0].attributes.to: needs one of path, value and text`},
		{"objects:\n  - kind: Pod\n    groups: [g]\n    evnts: []\n", `p.yaml:6: unknown key "evnts"`},
		{"projections:\n  ui:\n    values:\n      state:\n        up: ''\n", "p.yaml:7: projections.ui.values.state.up: a state is empty"},
		{"extends:\n  - default\n  - nowhere\n", "p.yaml:3: extends: there is no built-in profile"},
	} {
		if _, err := profile.Parse("p.yaml", []byte(head+c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

func TestExtendsList(t *testing.T) {
	p, err := profile.Parse("p.yaml", []byte("name: mine\nextends: [osac, metal3]\nbudgets: {cancel: 9m}\n"))
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	if p.Layer("osac-operator", "", none) != "workflow" || p.Layer("ironic", "", none) != "provider" || p.Layer("capi-x", "", none) != "workflow" {
		t.Error("a platform is missing")
	}
	if p.Owners["provider"].Team != "bare metal" || p.Owners["node"].Team != "hardware" || p.Budgets().Cancel.Minutes() != 9 || p.Budgets().Outbox == 0 {
		t.Errorf("%+v %+v", p.Owners, p.Budgets())
	}
	if len(p.Objects()) != 3 {
		t.Errorf("%d kinds of objects", len(p.Objects()))
	}
	if _, err := profile.Load("common"); err == nil {
		t.Error("the part that platforms share can be named as a profile")
	}
}

func BenchmarkFromText(b *testing.B) {
	for name, line := range map[string]string{
		"nothing": "nothing to see here, the quick brown fox jumps over the lazy dog and goes home to its den at 12:00",
		"json":    `{"level":"info","msg":"task dispatched","node_id":"n-17","task_id":"t-55","allocation_id":"a-9"}`,
	} {
		p := load(b, "")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var keys [identity.MaxKeysPerRecord]identity.Key
			for b.Loop() {
				p.FromText(keys[:0], "api", line)
			}
		})
	}
}

func FuzzFromText(f *testing.F) {
	f.Add("osac-operator", `{"ComputeInstance":{"name":"a","namespace":"b"},"reconcileID":"6f1c2a34-0d1e-4b7a-9c55-0242ac120002"}`)
	f.Add("api", `allocation_id=a-1 "task_id": "t", {\"node_id\":\"n\"}`)
	p := load(f, "")
	f.Fuzz(func(t *testing.T, service, line string) {
		r := record.Record{Signal: record.Log, Service: service, Body: line, Attrs: record.Attrs{{Key: "ComputeInstance", Value: line}}}
		for _, k := range p.Keys(&r) {
			if !identity.ValidID(k.ID) || k.Kind == identity.NoKind {
				t.Errorf("no identifier: %v", k)
			}
		}
	})
}

// TestDefaultKeepsItsWord checks that what platforms say of themselves does not change the layers, owners
// and budgets of the profile that is used when none is named.
func TestDefaultKeepsItsWord(t *testing.T) {
	p := load(t, "")
	none := func(string) string { return "" }
	for layer, services := range map[string]string{
		"client": "cli ui client", "deploy": "deployer argocd", "cert": "cert-manager cert-exporter step-ca", "network": "network-probe sdn",
		"ingress": "ingress ingress-proxy envoy traefik haproxy nginx", "api_auth": "auth auth-service authorino keycloak",
		"api": "api fulfillment-api control-api rest-gateway", "db": "db postgres", "outbox": "outbox-relay nats",
		"workflow": "provisioner provisioning-worker operator temporal", "provider": "aap awx eda maas ironic bmc kubevirt",
		"node_agent": "node-agent", "node": "kernel journald host node cloud-init", "projection": "ui-projection feedback-controller read-model",
	} {
		for service := range strings.FieldsSeq(services) {
			if got := p.Layer(service, "", none); got != layer {
				t.Errorf("%s is in layer %q, want %q", service, got, layer)
			}
		}
		if p.Owners[layer].Team == "" {
			t.Errorf("nobody owns %s", layer)
		}
	}
	b := p.Budgets()
	for name, d := range map[string][2]string{
		"provisioning": {b.States["provisioning"].String(), "15m0s"}, "requested": {b.States["requested"].String(), "2m0s"},
		"releasing": {b.States["releasing"].String(), "15m0s"}, "lease": {b.TaskLease.String(), "10m0s"}, "heartbeat": {b.Heartbeat.String(), "1m30s"},
		"job": {b.Provider.String(), "15m0s"}, "cancel": {b.Cancel.String(), "2m0s"}, "view": {p.Grace("ui").String(), "2m0s"}, "any view": {p.Grace("x").String(), "1m15s"},
	} {
		if d[0] != d[1] {
			t.Errorf("budget of %s is %s, want %s", name, d[0], d[1])
		}
	}
	if p.Owners["provider"].Team != "automation" || p.Owners["workflow"].Team != "provisioning" {
		t.Errorf("owners: %+v", p.Owners)
	}
}
