package accesslog

import (
	"net/http"
	"strings"
)

// catchAll is the service that ingress-nginx names for a request that no rule matched.
const catchAll = "upstream-default-backend"

// ingressTail reads time [service] [alternative] upstream length time status id. Upstream, length,
// time and status are lists with an item for every try; the last decided.
func (l *Line) ingressTail(c cursor) {
	took, _ := c.token()
	service, ok := c.enclosed('[', ']')
	if !ok {
		return
	}
	rest := c
	if _, ok = rest.enclosed('[', ']'); ok { // older formats have no alternative
		c = rest
	}
	upstream, ok := c.last()
	if !ok {
		return
	}
	l.Proxy, l.UpstreamKnown = Ingress, true
	l.Duration = seconds(took)
	if isAddress(upstream) {
		l.Upstream = address(upstream)
	}
	size, _ := c.last()
	_, _ = c.last() // its response time
	code, _ := c.last()
	id, _ := c.token()
	l.RequestID = plain(id)
	if answer, ok := status(code); ok {
		l.UpstreamStatus = answer
	}
	l.ingressFlags(service, upstream, size)
}

func (l *Line) ingressFlags(service, upstream, size string) {
	// The answer to a HEAD has no body, so its length tells nothing.
	silent := l.Upstream != "" && (size == "0" || size == "-") && l.Method != http.MethodHead
	says := ""
	switch {
	case l.Status == 499:
		says = says499
		if silent && l.UpstreamStatus == 499 {
			l.UpstreamStatus = 0
		}
	case service == catchAll && l.Status == 404:
		// Whoever serves the catch-all, nobody that was asked for was reached.
		says, l.Upstream, l.UpstreamStatus = says404, "", 0
	case upstream != "-" && l.Upstream == "":
		says, l.UpstreamStatus = saysGroup, 0
	case upstream == "-" && l.Status == 503:
		says = says503
	case upstream == "-" && l.Status == 401:
		says = says401
	case silent && l.UpstreamStatus == 502:
		says, l.UpstreamStatus = says502, 0
	case silent && l.UpstreamStatus == 504:
		says, l.UpstreamStatus = says504, 0
	}
	if says != "" {
		l.Flags = flags(Ingress, says)
	}
}

// isAddress tells an address from -, from the name of a group, and from the placeholder that stands in
// the controller's configuration for servers yet to be chosen.
func isAddress(s string) bool {
	return strings.IndexByte(s, ':') >= 0 && !strings.HasPrefix(s, "0.0.0.1:")
}
