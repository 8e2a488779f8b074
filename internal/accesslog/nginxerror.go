package accesslog

import "strings"

// nginxWords are nginx's messages, the special before the general (src/http/ngx_http_upstream.c,
// ngx_http_request.c, ngx_event_openssl.c).
var nginxWords = [...]wording{
	{[3]string{"no live upstreams"}, NoUpstream},
	{[3]string{"upstream timed out", "while connecting to upstream"}, UpstreamUnreachable},
	{[3]string{"upstream timed out", "while SSL handshaking to upstream"}, UpstreamTLS},
	{[3]string{"upstream timed out"}, UpstreamTimeout},
	{[3]string{"connect() failed", "111: "}, UpstreamRefused},
	{[3]string{"connect() to unix:", "failed"}, UpstreamRefused},
	{[3]string{"connect() to ", "failed", "111: "}, UpstreamRefused},
	{[3]string{"connect() ", "failed", "24: "}, ProxyExhausted},
	{[3]string{"connect() ", "failed", "99: "}, ProxyExhausted},
	{[3]string{"connect() ", "failed", "104: "}, UpstreamReset},
	{[3]string{"connect() ", "failed"}, UpstreamUnreachable},
	{[3]string{"upstream SSL certificate verify error", "certificate has expired"}, UpstreamExpired},
	{[3]string{"upstream SSL certificate"}, UpstreamUntrusted},
	{[3]string{"SSL_do_handshake() failed", "certificate verify failed", "while SSL handshaking to upstream"}, UpstreamUntrusted},
	{[3]string{"SSL", "while SSL handshaking to upstream"}, UpstreamTLS},
	{[3]string{"peer closed connection in SSL handshake", "to upstream"}, UpstreamTLS},
	{[3]string{"client SSL certificate verify error", "certificate has expired"}, ClientExpired},
	{[3]string{"client SSL certificate verify error"}, ClientUntrusted},
	{[3]string{"client sent no required SSL certificate"}, ClientNoCertificate},
	{[3]string{"could not be resolved"}, UpstreamUnresolved},
	{[3]string{"host not found in upstream"}, UpstreamUnresolved},
	{[3]string{"upstream sent", "header"}, UpstreamInvalid},
	{[3]string{"client prematurely closed connection"}, ClientGone},
	{[3]string{"upstream prematurely closed connection"}, UpstreamReset},
	{[3]string{"recv() failed", "upstream"}, UpstreamReset},
	{[3]string{"writev() failed", "upstream"}, UpstreamReset},
	{[3]string{"send() failed", "upstream"}, UpstreamReset},
	{[3]string{"readv() failed", "upstream"}, UpstreamReset},
	{[3]string{"SSL_do_handshake() failed", "while SSL handshaking"}, ClientTLS},
	{[3]string{"peer closed connection in SSL handshake"}, ClientTLS},
	{[3]string{"limiting requests"}, ClientLimited},
	{[3]string{"limiting connections"}, ClientLimited},
	{[3]string{"client intended to send too large body"}, ClientTooLarge},
	{[3]string{"worker_connections are not enough"}, ProxyExhausted},
	{[3]string{"failed", "Too many open files"}, ProxyExhausted},
}

// isNginxError looks for 2022/04/15 08:16:13 [
func isNginxError(line string) bool {
	return line[4] == '/' && line[7] == '/' && line[10] == ' ' && line[13] == ':' && line[16] == ':' &&
		line[19] == ' ' && line[20] == '['
}

// parseNginxError reads
//
//	time [level] pid#tid: *connection message, client: …, server: …, request: "…", subrequest: "…", upstream: "…", host: "…", referrer: "…"
func parseNginxError(line string) (ErrorLine, bool) {
	e := ErrorLine{Proxy: Nginx}
	month, _ := number(line[5:7])
	var ok bool
	if e.Time, ok = moment(line[0:4], month, line[8:10], line[11:13], line[14:16], line[17:19]); !ok {
		return ErrorLine{}, false
	}
	i := strings.Index(line, ": ")
	if i < 0 {
		return ErrorLine{}, false
	}
	text := line[i+2:]
	if id, rest, ok := strings.Cut(text, " "); ok && strings.HasPrefix(id, "*") && digits(id[1:]) {
		text = rest
	}
	e.Message = text
	// What follows the client's name is the request's own text and must not be read as a message.
	if i := strings.Index(text, ", client: "); i >= 0 {
		e.Message = text[:i]
		e.nginxFields(text[i:])
	}
	if e.Cause, ok = match(nginxWords[:], e.Message); !ok {
		return ErrorLine{}, false
	}
	return e, true
}

// nginxFields reads the fields in the order in which nginx writes them, so that a request cannot pose
// as one of the fields before it.
func (e *ErrorLine) nginxFields(s string) {
	client, s := field(s, ", client: ")
	e.ClientAddress = peer(client)
	e.Host, s = field(s, ", server: ")
	request, s := quotedField(s, ", request: \"")
	_, s = quotedField(s, ", subrequest: \"")
	upstream, s := quotedField(s, ", upstream: \"")
	host, _ := quotedField(s, ", host: \"")
	e.request(request)
	e.Upstream = address(upstream)
	if host != "" {
		e.Host = host
	}
}

// field is the text behind name, up to the next comma; "" where the field isn't next.
func field(s, name string) (value, rest string) {
	after, ok := strings.CutPrefix(s, name)
	if !ok {
		return "", s
	}
	i := strings.IndexByte(after, ',')
	if i < 0 {
		return after, ""
	}
	return after[:i], after[i:]
}

// quotedField is the text behind name up to its closing quote, or up to the end of a line that was
// cut off; nginx quotes without escaping, so the closing quote is the one with a field behind it.
func quotedField(s, name string) (value, rest string) {
	after, ok := strings.CutPrefix(s, name)
	if !ok {
		return "", s
	}
	if i := strings.Index(after, `", `); i >= 0 {
		return after[:i], after[i+1:]
	}
	return strings.TrimSuffix(after, `"`), ""
}
