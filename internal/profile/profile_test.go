package profile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

func load(t testing.TB, name string) *profile.Profile {
	t.Helper()
	p, err := profile.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBuiltinProfilesLoad(t *testing.T) {
	for _, name := range profile.Names() {
		if p := load(t, name); p.Name != name {
			t.Errorf("%s calls itself %q", name, p.Name)
		}
	}
}

func TestKeys(t *testing.T) {
	p := load(t, "")
	cases := []struct {
		name string
		in   record.Record
		want identity.Keys
	}{
		{"canonical", record.Record{Attrs: record.FromMap(map[string]string{"allocation_id": "a-1", "task_id": "t-1"})},
			identity.Keys{{Kind: identity.Allocation, ID: "a-1"}, {Kind: identity.Task, ID: "t-1"}}},
		{"dotted", record.Record{Attrs: record.FromMap(map[string]string{"node.instance.id": "ni-1"})},
			identity.Keys{{Kind: identity.NodeInstance, ID: "ni-1"}}},
		{"canonical wins over dotted", record.Record{Attrs: record.FromMap(map[string]string{"node.id": "n-2", "node_id": "n-1"})},
			identity.Keys{{Kind: identity.Node, ID: "n-1"}}},
		{"record wins over resource", record.Record{Attrs: record.FromMap(map[string]string{"node_id": "n-1"}), Resource: record.FromMap(map[string]string{"node_id": "n-2", "boot_id": "b-1"})},
			identity.Keys{{Kind: identity.Node, ID: "n-1"}, {Kind: identity.Boot, ID: "b-1"}}},
		{"headers", record.Record{Attrs: record.FromMap(map[string]string{"X-Request-ID": "r-1", "http.request.header.x-correlation-id": `["c-1"]`})},
			identity.Keys{{Kind: identity.Request, ID: "r-1"}, {Kind: identity.Correlation, ID: "c-1"}}},
		{"baggage", record.Record{Attrs: record.FromMap(map[string]string{"baggage": "allocation_id=a%2D1;p=1, tenant=blue,correlation.id=c-1"})},
			identity.Keys{{Kind: identity.Allocation, ID: "a-1"}, {Kind: identity.Correlation, ID: "c-1"}}},
		{"trace", record.Record{TraceID: "0af7651916cd43dd8448eb211c80319c"},
			identity.Keys{{Kind: identity.Trace, ID: "0af7651916cd43dd8448eb211c80319c"}}},
		{"too long", record.Record{Attrs: record.FromMap(map[string]string{"task_id": strings.Repeat("x", 10_000)})}, nil},
		{"broken baggage", record.Record{Attrs: record.FromMap(map[string]string{"baggage": "allocation_id=%zz,=,;,x"})}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, p.Keys(&c.in)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLayer(t *testing.T) {
	p := load(t, "")
	none := func(string) string { return "" }
	for service, want := range map[string]string{"envoy": "ingress", "kernel": "node", "provisioner": "workflow", "billing": ""} {
		if got := p.Layer(service, "", none); got != want {
			t.Errorf("%s is in layer %q, want %q", service, got, want)
		}
	}
	states := func(layer string) func(string) string {
		return func(k string) string { return map[string]string{"layer": layer}[k] }
	}
	if got := p.Layer("envoy", "", states("cert")); got != "cert" {
		t.Errorf("the emitter's own word is ignored: %q", got)
	}
	if got := p.Layer("envoy", "", states("nonsense")); got != "ingress" {
		t.Errorf("a layer that does not exist was believed: %q", got)
	}
}

func TestParseRefuses(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"unknown key", "name: x\nlayers: [a]\ncatlog: []\n", `p.yaml:3: unknown key "catlog"`},
		{"no layers", "name: x\n", "layers: a profile needs at least one layer"},
		{"foreign layer", "name: x\nlayers: [a]\ncatalog: [{layer: b, services: [s]}]\n", `catalog[0]: layer "b" is not among layers`},
		{"matches everything", "name: x\nlayers: [a]\ncatalog: [{layer: a}]\n", "would match everything"},
		{"bad expression", "name: x\nlayers: [a]\nextract: {patterns: [{kind: request, contains: [r], regexp: '('}]}\n", "p.yaml:3: extract.patterns[0].regexp: error parsing regexp"},
		{"bad kind", "name: x\nlayers: [a]\nextract: {patterns: [{kind: rquest, contains: [r], regexp: 'r'}]}\n", `kind "rquest"`},
		{"bad sharing", "name: x\nlayers: [a]\nnode_sharing: some\n", `node_sharing: "some"`},
		{"bad duration", "name: x\nlayers: [a]\nbudgets: {cancel: soon}\n", "p.yaml:3"},
		{"itself", "name: x\nextends: p.yaml\n", "p.yaml"},
		{"no such base", "name: x\nextends: nothing\n", `no built-in profile "nothing"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := profile.Parse("p.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestExtendsOverlays(t *testing.T) {
	p, err := profile.Parse("p.yaml", []byte("name: mine\nextends: default\nowners: {cert: {team: PKI}}\ncatalog: [{layer: ingress, services: [my-edge*]}]\nbudgets: {task_claim: 5s}\n"))
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	if p.Layer("my-edge-7", "", none) != "ingress" || p.Layer("envoy", "", none) != "ingress" || p.Owners["cert"].Team != "PKI" || p.Owners["node"].Team == "" {
		t.Errorf("overlay lost something: %+v", p.Owners)
	}
	if p.Budgets().TaskClaim.String() != "5s" || p.Budgets().Cancel == 0 {
		t.Errorf("budgets: %+v", p.Budgets())
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("baggage", "allocation_id=a%2D1;p=1", "req-1")
	p := load(f, "")
	f.Fuzz(func(t *testing.T, name, value, body string) {
		keys := p.Keys(&record.Record{Attrs: record.Attrs{{Key: name, Value: value}}, Body: body})
		for _, k := range keys {
			if !identity.ValidID(k.ID) || k.Kind == identity.NoKind {
				t.Errorf("not an identifier: %v", k)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("name: x\nlayers: [a]\n")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = profile.Parse("p.yaml", []byte(text)) })
}
