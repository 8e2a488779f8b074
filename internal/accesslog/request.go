package accesslog

import (
	"net/http"
	"strings"
)

// request reads a request line into l. What is none (a TLS hello on a plain port, <BADREQ>, nothing)
// leaves l as it was: the status says what the proxy thought of it.
func (l *Line) request(s string) {
	method, rest, ok := strings.Cut(s, " ")
	if !ok || !isMethod(method) {
		return
	}
	target, protocol := rest, ""
	if i := strings.LastIndexByte(rest, ' '); i >= 0 && strings.HasPrefix(rest[i+1:], "HTTP/") {
		target, protocol = rest[:i], rest[i+1:]
	}
	if target == "" {
		return
	}
	l.Method, l.Protocol = method, protocol
	l.target(target)
}

// target reads a path, an absolute URL, or the authority of a CONNECT.
func (l *Line) target(s string) {
	if l.Method == http.MethodConnect && !strings.HasPrefix(s, "/") {
		l.Host = s
		return
	}
	if i := strings.Index(s, "://"); i > 0 && i <= 5 {
		host, path, _ := cutBefore(s[i+3:], '/')
		l.Host, s = host, path
	}
	if i := strings.IndexByte(s, '?'); i >= 0 {
		s = s[:i]
	}
	l.Path = s
}

func cutBefore(s string, mark byte) (before, after string, found bool) {
	i := strings.IndexByte(s, mark)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i:], true
}

func isMethod(s string) bool {
	if s == "" || len(s) > 32 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if (s[i] < 'A' || s[i] > 'Z') && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return s != "-"
}

// status reads three digits; - is httpd's word for an answer that was never sent, -1 HAProxy's, 0
// Envoy's.
func status(s string) (int, bool) {
	switch s {
	case "-", "-1", "0", "000":
		return 0, true
	}
	n, ok := number(s)
	return n, ok && len(s) == 3 && n >= 100
}
