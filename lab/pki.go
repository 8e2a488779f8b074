package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/faultline-io/faultline/provisioner/authority"
)

// ca is a certificate authority: the platform's, which the provisioner issues from and everybody trusts, or
// one that nobody trusts any more.
type ca struct{ *authority.Authority }

func newAuthority(name string, now time.Time) (*ca, error) {
	a, err := authority.New(name, now)
	return &ca{a}, err
}

// issue makes any certificate that one might meet: hosts makes it a server's, else it names a node, and no
// node instance that the node API knows.
func (a *ca) issue(name string, from, until time.Time, hosts ...string) (tls.Certificate, error) {
	id := authority.Identity{Service: name}
	if len(hosts) == 0 {
		id = authority.Identity{NodeID: name, InstanceID: "none"}
	}
	return a.Pair(id, from, until, hosts...)
}

func (a *ca) pool() *x509.CertPool { return a.Pool() }

// pki is the certificates of the lab that are not issued at enrolment.
type pki struct {
	ca     *ca
	server tls.Certificate             // the ingress's, towards both sides
	nodes  map[string]*tls.Certificate // what bad nodes present instead of their own
}

// pkiFolder is where lab and provisioner find the authority that they share.
func pkiFolder(data string) string { return filepath.Join(data, "pki") }

// newPKI opens the authority and makes the certificates of nodes whose specification wants a bad one.
func newPKI(dir string, nodes []nodeSpec, now time.Time) (*pki, error) {
	own, err := authority.Open(pkiFolder(dir))
	if err != nil {
		return nil, err
	}
	retired, err := newAuthority("lab-ca-retired", now)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	p := &pki{ca: &ca{own}, nodes: map[string]*tls.Certificate{}}
	if p.server, err = p.ca.issue(authority.Ingress, now.Add(-time.Hour), now.Add(90*24*time.Hour), "127.0.0.1", "::1", "localhost"); err != nil {
		return nil, fmt.Errorf("issue server certificate: %w", err)
	}
	for _, m := range nodes {
		until, issuer := now.Add(24*time.Hour), p.ca
		switch m.cert {
		case certGood:
			continue
		case certExpired:
			until = now.Add(-90 * time.Minute)
		case certUntrusted:
			issuer = retired
		}
		bad, err := issuer.issue(m.id, now.Add(-24*time.Hour), until)
		if err != nil {
			return nil, fmt.Errorf("issue certificate of %s: %w", m.id, err)
		}
		p.nodes[m.id] = &bad
	}
	return p, nil
}

// towards dials as the ingress does: the node API, at the given address, wants to see who it is.
func (p *pki) towards(nodeAPI string) func(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(nodeAPI)
	own := &tls.Dialer{Config: &tls.Config{
		Certificates: []tls.Certificate{p.server}, RootCAs: p.ca.pool(), ServerName: host, MinVersion: tls.VersionTLS13,
	}}
	var plain net.Dialer
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == nodeAPI {
			return own.DialContext(ctx, network, address)
		}
		return plain.DialContext(ctx, network, address)
	}
}
