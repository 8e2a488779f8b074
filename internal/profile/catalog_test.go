package profile

import "testing"

// The index of the catalog finds the rule that a walk through all of them finds.
func TestTheIndexOfTheCatalogLeavesNothingOut(t *testing.T) {
	for _, name := range []string{"", "osac", "gpuaas", "metal3", "openstack"} {
		p, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		services := []string{"", "nobody", "api-2", "ironic-", "ironic-conductor", "k", "openshift-api"}
		for _, c := range p.catalog {
			for _, s := range c.services {
				services = append(services, s, s+"x")
			}
		}
		for _, service := range services {
			for _, scope := range []string{"", "io.opentelemetry.envoy"} {
				want := ""
				for i := range p.catalog {
					if p.catalog[i].matches(service, scope, func(string) string { return "" }) {
						want = p.catalog[i].layer
						break
					}
				}
				if got := p.Layer(service, scope, func(string) string { return "" }); got != want {
					t.Errorf("%s: %q in scope %q is of %q, want %q", name, service, scope, got, want)
				}
			}
		}
	}
}
