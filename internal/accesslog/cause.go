package accesslog

import "strings"

// Cause is why a request could not be served, in words that hold for every proxy.
type Cause string

// The causes. "Upstream" is the back end, "client" who asked.
const (
	UpstreamRefused     Cause = "upstream_refused"      // nobody listens there
	UpstreamUnreachable Cause = "upstream_unreachable"  // no route, or no answer to the connect
	UpstreamReset       Cause = "upstream_reset"        // it closed before its answer was whole
	UpstreamTimeout     Cause = "upstream_timeout"      // connected, and silent for too long
	UpstreamTLS         Cause = "upstream_tls"          // the handshake with it failed
	UpstreamUntrusted   Cause = "upstream_untrusted"    // its certificate did not verify
	UpstreamExpired     Cause = "upstream_cert_expired" // its certificate has expired
	UpstreamUnresolved  Cause = "upstream_unresolved"   // its name has no address
	UpstreamInvalid     Cause = "upstream_invalid"      // its answer was no HTTP
	UpstreamDown        Cause = "upstream_down"         // a health check took it out
	NoUpstream          Cause = "no_upstream"           // none is left, or there never was one
	ClientTLS           Cause = "client_tls"            // the handshake with the client failed
	ClientUntrusted     Cause = "client_untrusted"      // its certificate did not verify
	ClientExpired       Cause = "client_cert_expired"   // its certificate has expired
	ClientNoCertificate Cause = "client_no_cert"        // it sent none where one is required
	ClientGone          Cause = "client_gone"           // it left before the answer
	ClientLimited       Cause = "client_limited"        // over its rate or connection limit
	ClientTooLarge      Cause = "client_too_large"      // its body exceeds the limit
	ProxyExhausted      Cause = "proxy_exhausted"       // the proxy is out of connections or files
)

// Flags is the cause in Envoy's vocabulary, "" where Envoy has no flag for it.
func (c Cause) Flags() string {
	switch c {
	case UpstreamRefused, UpstreamUnreachable, UpstreamTLS, UpstreamUntrusted, UpstreamExpired:
		return UpstreamConnectFailure
	case UpstreamReset:
		return UpstreamTermination
	case UpstreamTimeout:
		return UpstreamRequestTimeout
	case UpstreamUnresolved:
		return DNSFailure
	case UpstreamInvalid:
		return UpstreamProtocolError
	case NoUpstream:
		return NoHealthyUpstream
	case ClientGone:
		return DownstreamTermination
	case ClientLimited:
		return RateLimited
	case ProxyExhausted:
		return Overload
	}
	return ""
}

// wording is one message that means a cause: all of its parts occur in the text, in this order.
type wording struct {
	parts [3]string
	cause Cause
}

// match is the cause of the first wording that occurs in message.
func match(words []wording, message string) (Cause, bool) {
	for i := range words {
		if words[i].occurs(message) {
			return words[i].cause, true
		}
	}
	return "", false
}

func (w *wording) occurs(s string) bool {
	for _, part := range w.parts {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}
