package guard

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/internal/access"
)

// hosts are the names under which the API may be asked. A page of anybody's can have its own name lead to this machine,
// and is of the same origin then; the name in the request tells.
type hosts struct {
	names map[string]bool
	any   bool // it listens on all addresses: the one at which a request came in is its name, too
}

func newHosts(listen string, more []string) hosts {
	h := hosts{names: map[string]bool{}}
	own := bare(listen)
	if ip := net.ParseIP(own); own == "" || ip != nil && ip.IsUnspecified() {
		h.any = true
	} else {
		h.names[own] = true
	}
	for _, name := range more {
		h.names[bare(name)] = true
	}
	return h
}

// bare is a host without port, brackets and the root's dot.
func bare(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

func (h hosts) has(r *http.Request) bool {
	name := bare(r.Host)
	if name == "" {
		return false
	}
	if h.names[name] || access.Loopback(name) {
		return true
	}
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !h.any || at == nil {
		return false
	}
	asked, own := net.ParseIP(name), net.ParseIP(bare(at.String()))
	return asked != nil && asked.Equal(own)
}

func (g *Guard) named(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !g.hosts.has(c.Request()) {
			return problem.New(problem.WrongHost, fmt.Sprintf("%.255q is neither this machine, nor the address that the server listens on, nor one of access.hosts", bare(c.Request().Host)))
		}
		return next(c)
	}
}
