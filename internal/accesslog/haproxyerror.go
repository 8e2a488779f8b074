package accesslog

import "strings"

// noServerSuffix ends HAProxy's report of a backend that has lost its last server.
const noServerSuffix = "has no server available!"

// haproxyWords are the messages of a connection that ended before a request (src/connection.c,
// conn_err_code_str).
var haproxyWords = [...]wording{
	{[3]string{"SSL client certificate not trusted"}, ClientUntrusted},
	{[3]string{"SSL client CA chain cannot be verified"}, ClientUntrusted},
	{[3]string{"handshake", "certificate has expired"}, ClientExpired},
	{[3]string{"handshake", "peer did not return a certificate"}, ClientNoCertificate},
	{[3]string{"SSL handshake"}, ClientTLS},
	{[3]string{"Server-side connection refused"}, UpstreamRefused},
	{[3]string{"Connection refused at transport layer"}, UpstreamRefused},
	{[3]string{"All available source ports are in use"}, ProxyExhausted},
	{[3]string{"Process-wide connection limit reached"}, ProxyExhausted},
}

// parseHAProxyError reads client:port [time] frontend/listener: message, behind syslog's header or
// not; at is where the time stands.
func parseHAProxyError(line string, at int) (ErrorLine, bool) {
	var l Line
	if !l.haproxyHead(line, at) {
		return ErrorLine{}, false
	}
	c := cursor{line[at+stampBytes+len(".633]"):]}
	listener, _ := c.token()
	if !strings.HasSuffix(listener, ":") || !strings.Contains(listener, "/") {
		return ErrorLine{}, false
	}
	e := ErrorLine{Proxy: HAProxy, Message: strings.TrimLeft(c.rest, " "), ClientAddress: l.ClientAddress, Time: l.Time}
	var ok bool
	if e.Cause, ok = match(haproxyWords[:], e.Message); !ok {
		return ErrorLine{}, false
	}
	return e, true
}

// parseHAProxyHealth reads what HAProxy says of its back ends:
//
//	backend app has no server available!
//	Server app/s1 is DOWN, reason: Layer4 connection problem, info: "Connection refused", …
func parseHAProxyHealth(line string) (ErrorLine, bool) {
	e := ErrorLine{Proxy: HAProxy}
	if rest, ok := strings.CutSuffix(line, " "+noServerSuffix); ok {
		e.Cause = NoUpstream
		i := strings.LastIndexByte(rest, ' ')
		kind := rest[:max(i, 0)]
		if !strings.HasSuffix(kind, "backend") && !strings.HasSuffix(kind, "proxy") && !strings.HasSuffix(kind, "Proxy") {
			return ErrorLine{}, false
		}
		e.Upstream = strings.Trim(rest[i+1:], `'`)
		e.Message = line[strings.LastIndexByte(kind, ' ')+1:]
		return e, true
	}
	head := line[:min(len(line), errorHeadBytes)]
	i := strings.Index(head, "Server ")
	if i < 0 {
		return ErrorLine{}, false
	}
	name, rest, ok := strings.Cut(line[i+len("Server "):], " ")
	if !ok || !strings.HasPrefix(rest, "is DOWN") || !strings.Contains(name, "/") {
		return ErrorLine{}, false
	}
	e.Cause, e.Upstream, e.Message = UpstreamDown, name, line[i:]
	return e, true
}
