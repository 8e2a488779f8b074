package namespace

import (
	"net/netip"
	"testing"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	f := func(want string, taken ...string) {
		t.Helper()
		var all []netip.Prefix
		for _, p := range taken {
			all = append(all, netip.MustParsePrefix(p))
		}
		got, err := choose(all)
		if said := got.String(); err == nil && said != want || err != nil && want != "" {
			t.Errorf("with %v taken: %s, %v, want %q", taken, said, err, want)
		}
	}
	f("10.231.77.0/30", "192.0.2.0/24", "127.0.0.0/8")
	f("10.231.77.8/30", "10.231.77.0/30", "10.231.77.5/32")
	f("172.31.231.0/30", "10.0.0.0/8")
	f("198.18.231.252/30", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "198.18.231.0/25", "198.18.231.128/26", "198.18.231.192/27", "198.18.231.224/28", "198.18.231.240/29", "198.18.231.248/30")
	f("", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15")
}
