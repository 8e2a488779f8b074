package access

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Certificate is a client certificate that lets its owner in, by the name that it carries.
type Certificate struct {
	// Subject is what the certificate says of its owner: a URI ("spiffe://…") among its alternative names, or a DNS
	// name among them, or its common name.
	Subject string  `yaml:"subject"`
	Role    Role    `yaml:"role"`
	Tenants Tenants `yaml:"tenants,omitempty"` // absent: all
}

// UnmarshalYAML reads an entry of the configuration.
func (c *Certificate) UnmarshalYAML(n *yaml.Node) error {
	type plain Certificate
	return entry(n, (*plain)(c), "subject", "role", "tenants")
}

// certificates finds listed ones by their subject.
type certificates map[string]Certificate

func newCertificates(list []Certificate) (certificates, error) {
	all := certificates{}
	for _, c := range list {
		_, twice := all[c.Subject]
		switch {
		case !plausible(c.Subject):
			return nil, errors.New("subject: must be set, and be printable")
		case c.Role == Nobody:
			return nil, fmt.Errorf("%s: role: none of viewer, operator, admin", c.Subject)
		case twice:
			return nil, fmt.Errorf("%s: named twice", c.Subject)
		}
		if err := c.Tenants.validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Subject, err)
		}
		all[c.Subject] = c
	}
	return all, nil
}

// shown is the client certificate of the connection, where one was shown and somebody trusted vouches for it.
func shown(r *http.Request) *x509.Certificate {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return nil
	}
	return r.TLS.VerifiedChains[0][0]
}

// principal says whose a verified certificate is. A connection may outlive its certificate, so that its end is looked at
// for each request.
func (all certificates) principal(leaf *x509.Certificate, now time.Time) (Principal, error) {
	for _, name := range namesOf(leaf) {
		c, ok := all[name]
		if !ok {
			continue
		}
		p := Principal{Subject: c.Subject, Role: c.Role, Tenants: c.Tenants, Expires: leaf.NotAfter, Via: "certificate " + c.Subject}
		if !now.Before(leaf.NotAfter) {
			return p, &Denial{Reason: TokenExpired, Who: p, Detail: "the certificate of " + c.Subject + " has expired at " + leaf.NotAfter.UTC().Format(time.RFC3339)}
		}
		return p, nil
	}
	return Principal{}, deny(CertificateUnknown, "the client certificate is none of access.certificates, and no token was sent")
}

// namesOf lists the names of a certificate, the most telling first. A common name that looks like a URI is none: whoever
// may choose one need not have been given the other.
func namesOf(leaf *x509.Certificate) (names []string) {
	for _, u := range leaf.URIs {
		names = append(names, u.String())
	}
	plain := append(slices.Clone(leaf.DNSNames), leaf.Subject.CommonName)
	return append(names, slices.DeleteFunc(plain, func(name string) bool { return name == "" || strings.Contains(name, "://") })...)
}
