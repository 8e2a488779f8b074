package rest

import (
	"fmt"
	"net/http"
	"net/netip"

	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

// thisMachine is who is believed about callers where nobody is named.
var thisMachine = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// proxies are networks of whoever may say, in a header, whose certificate it has verified.
type proxies []netip.Prefix

// vouches says nothing where the connection is a proxy's, and else why its word does not count.
func (p proxies) vouches(r *http.Request) error {
	if len(p) == 0 {
		p = thisMachine
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err == nil {
		for _, network := range p {
			if network.Contains(from.Addr().Unmap().WithZone("")) {
				return nil
			}
		}
	}
	return lifecycle.Refuse(lifecycle.NoCertificate, "caller",
		fmt.Sprintf("%s is no proxy that may say whose certificate it has verified (authority.proxies)", r.RemoteAddr))
}
