package accesslog

import (
	"net"
	"strings"
	"time"
)

// Who wrote a line. CLF is the combined or common format, which nginx, httpd and many application
// servers share: such a line does not say whose it is.
const (
	Envoy   = "envoy"
	Nginx   = "nginx"
	Ingress = "ingress-nginx"
	HAProxy = "haproxy"
	Traefik = "traefik"
	APISIX  = "apisix"
	Httpd   = "httpd"
	ALB     = "alb"
	CLF     = "clf"
)

// MaxBytes bounds a line. Proxies refuse requests whose headers are a fraction of it.
const MaxBytes = 256 << 10

// Line is one request or connection, as the proxy that served it saw it.
type Line struct {
	Proxy    string
	Method   string // "" for TCP and for what was no HTTP request
	Path     string // without the query, which may hold secrets
	Protocol string // as written: HTTP/1.1, HTTP/2, HTTP/2.0
	Status   int    // what the client was told; 0 where nothing was, or for TCP

	// Upstream is the back end that was tried last: host:port, a unix socket, or HAProxy's
	// backend/server. Empty: none was chosen, or (UpstreamKnown is false) the format doesn't say.
	Upstream      string
	UpstreamKnown bool
	// UpstreamStatus is what the back end itself answered. 0: nothing, or the format doesn't say; a
	// status which the proxy made up for a silent back end is not repeated here.
	UpstreamStatus int
	// UpstreamError is why the connection to it failed, in Envoy's words, where the format has them.
	UpstreamError string

	// Flags are Envoy's response flags, comma-separated, "" for none: see mappings.
	Flags string

	RequestID     string
	Host          string // the request's authority, or the server name of its TLS handshake
	ClientAddress string // the peer, without its port
	ClientSubject string // subject of the client certificate
	Duration      time.Duration
	// Time is when the request began (Envoy, HAProxy, Traefik, httpd) or ended (nginx), in UTC. HAProxy
	// writes local time without a zone: it is read as UTC. Zero where there is none.
	Time time.Time
}

// Parse reads an access line. False: it is none, or is cut off before the proxy's own words.
//
// HAProxy's report that a backend has no server left counts as a line too: it has no request and the
// flag UH.
func Parse(line string) (Line, bool) {
	line, ok := trim(line)
	if !ok {
		return Line{}, false
	}
	l, ok := parse(line)
	if !ok {
		return Line{}, false
	}
	return l, true
}

// trim drops the end of line; false for what is too long, or too short to be a proxy's.
func trim(line string) (string, bool) {
	if len(line) > MaxBytes {
		return "", false
	}
	line = strings.TrimRight(line, "\r\n\t ")
	return line, len(line) >= 24
}

func parse(line string) (Line, bool) {
	switch {
	case line[0] == '{':
		return parseJSON(line)
	case line[0] == '[' && isEnvoy(line):
		return parseEnvoy(line)
	case isALB(line):
		return parseALB(line)
	}
	if strings.HasSuffix(line, noServerSuffix) {
		if _, ok := parseHAProxyHealth(line); ok {
			return Line{Proxy: HAProxy, UpstreamKnown: true, Flags: flags(HAProxy, saysNoServers)}, true
		}
	}
	at := findStamp(line)
	if at < 0 {
		return parseUntimed(line)
	}
	if line[at+stampBytes] == '.' {
		return parseHAProxy(line, at)
	}
	return parseCLF(line, at)
}

// parseUntimed reads a line whose time whoever collected it took off: Envoy's begins with the request then, and of the common format
// the client's address stands before it.
func parseUntimed(line string) (Line, bool) {
	i := strings.IndexByte(line, '"')
	if i < 0 {
		return Line{}, false
	}
	c := cursor{line[i:]}
	req, ok := c.quoted()
	method, target, _ := strings.Cut(req, " ")
	if !ok || !isMethod(method) || !strings.HasPrefix(target[strings.LastIndexByte(target, ' ')+1:], "HTTP/") {
		return Line{}, false
	}
	if i == 0 {
		return parseEnvoyRequest(line)
	}
	client, _ := (&cursor{line}).token()
	if net.ParseIP(plain(client)) == nil {
		return Line{}, false
	}
	return parseCLFRequest(line[:i], line[i:])
}

func parseJSON(line string) (Line, bool) {
	switch {
	case strings.Contains(line, `"DownstreamStatus"`):
		return parseTraefikJSON(line)
	case strings.Contains(line, `"response_flags"`):
		return parseEnvoyJSON(line)
	}
	return Line{}, false
}
