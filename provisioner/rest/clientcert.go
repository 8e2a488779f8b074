package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/faultline-io/faultline/provisioner/authority"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

// HeaderClientCert is where an ingress that ends TLS says whose certificate it has verified, in the form
// that Envoy gave it: `Hash=…;Subject="CN=node-1";URI=spiffe://…`. The ingress sets it, and drops what a
// client sent under that name; the node API takes it from the ingress only.
const HeaderClientCert = "X-Forwarded-Client-Cert"

// ClientCert is one element of HeaderClientCert.
type ClientCert struct {
	Hash    string // SHA-256 of the certificate, hexadecimal
	Subject string // "CN=node-1"
	URI     string // the identity
}

// String is the element as a header value.
func (c ClientCert) String() string {
	return fmt.Sprintf(`Hash=%s;Subject="%s";URI=%s`, c.Hash, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c.Subject), c.URI)
}

// ParseClientCert reads a header value of exactly one element: with two, one of them is not the ingress's.
func ParseClientCert(text string) (c ClientCert, err error) {
	for text != "" {
		key, rest, ok := strings.Cut(text, "=")
		if !ok {
			return c, fmt.Errorf("%q is no key=value", text)
		}
		var value string
		if value, text, err = certValue(rest); err != nil {
			return c, err
		}
		switch strings.ToLower(key) {
		case "hash":
			c.Hash = value
		case "subject":
			c.Subject = value
		case "uri":
			c.URI = value
		}
	}
	return c, nil
}

// certValue cuts a value, plain or quoted, and the semicolon behind it.
func certValue(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		value, rest, _ = strings.Cut(text, ";")
		if strings.Contains(value, ",") {
			return "", "", fmt.Errorf("more than one element")
		}
		return value, rest, nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i < len(text) {
				b.WriteByte(text[i])
			}
		case '"':
			switch rest = text[i+1:]; {
			case rest == "":
				return b.String(), "", nil
			case rest[0] == ';':
				return b.String(), rest[1:], nil
			}
			return "", "", fmt.Errorf("more than one element")
		default:
			b.WriteByte(text[i])
		}
	}
	return "", "", fmt.Errorf("a quote is not closed")
}

// throughIngress reports whether the request came over a connection that the ingress made, by the
// certificate with which it did.
func throughIngress(r *http.Request) bool {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return false
	}
	return named(r.TLS.VerifiedChains[0][0].URIs).Service == authority.Ingress
}

func named(uris []*url.URL) (id authority.Identity) {
	if len(uris) == 1 {
		id, _ = authority.ParseIdentity(uris[0].String())
	}
	return id
}

// certified is the node instance that the client certificate names, as the ingress passed it on.
func certified(r *http.Request) (id authority.Identity, subject string, err error) {
	if !throughIngress(r) {
		return id, "", lifecycle.Refuse(lifecycle.NoCertificate, "caller", "the connection is not the ingress's, so its word about a client certificate does not count")
	}
	values := r.Header.Values(HeaderClientCert)
	if len(values) == 0 || values[0] == "" {
		return id, "", lifecycle.Refuse(lifecycle.NoCertificate, "caller",
			"invalid node identity: mtls_present=false, no client certificate header ("+HeaderClientCert+") came from the ingress")
	}
	c, err := ParseClientCert(values[0])
	if err != nil || len(values) > 1 {
		return id, "", lifecycle.Refuse(lifecycle.WrongCertificate, "caller", HeaderClientCert+" is not one element in Envoy's form")
	}
	if id, err = authority.ParseIdentity(c.URI); err != nil || id.NodeID == "" {
		return id, c.Subject, lifecycle.Refuse(lifecycle.WrongCertificate, "caller", "the certificate of "+c.Subject+" names no node instance")
	}
	return id, c.Subject, nil
}
