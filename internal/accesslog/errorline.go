package accesslog

import (
	"strings"
	"time"
)

// ErrorLine is a proxy's report of why a request, a connection or a back end failed.
type ErrorLine struct {
	Proxy   string
	Cause   Cause
	Flags   string // Cause.Flags
	Message string // the proxy's words, without the fields below

	// Upstream is the back end as in Line.Upstream. For NoUpstream, where none was reached, it is the name
	// of the group, backend or service that is empty.
	Upstream string

	Method   string
	Path     string
	Protocol string

	Host          string // the request's authority, else the virtual server
	ClientAddress string // without its port
	// Time as written; nginx, HAProxy and httpd write local time without a zone, read as UTC. Zero where
	// the line has none of its own.
	Time time.Time
}

// errorHeadBytes is how far into a line the name of the proxy may stand.
const errorHeadBytes = 160

// ParseError reads an error line of nginx, ingress-nginx, HAProxy or httpd. False: it is none, or tells
// nothing of a Cause (a missing file, a reload).
func ParseError(line string) (ErrorLine, bool) {
	line, ok := trim(line)
	if !ok {
		return ErrorLine{}, false
	}
	var e ErrorLine
	switch {
	case isNginxError(line):
		e, ok = parseNginxError(line)
	case isKlog(line):
		e, ok = parseIngressError(line)
	case line[0] == '[' && line[4] == ' ':
		e, ok = parseHttpdError(line)
	default:
		e, ok = parseForwarded(line)
	}
	e.Flags = e.Cause.Flags()
	return e, ok
}

// parseForwarded reads lines that carry a header of syslog, of docker or none at all.
func parseForwarded(line string) (ErrorLine, bool) {
	head := line[:min(len(line), errorHeadBytes)]
	if i := strings.Index(head, "nginx: "); i >= 0 {
		if rest := line[i+len("nginx: "):]; len(rest) > 24 && isNginxError(rest) {
			return parseNginxError(rest)
		}
		return ErrorLine{}, false
	}
	if at := findStamp(head); at >= 0 && line[at+stampBytes] == '.' {
		return parseHAProxyError(line, at)
	}
	return parseHAProxyHealth(line)
}

// request reads a request line.
func (e *ErrorLine) request(s string) {
	var l Line
	l.request(s)
	e.Method, e.Path, e.Protocol = l.Method, l.Path, l.Protocol
	if l.Host != "" {
		e.Host = l.Host
	}
}
