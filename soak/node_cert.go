package soak

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/provisioner/authority"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
)

// certified is what a node that is known by its certificate has: as the ingress would, it passes the
// certificate on over a connection that the ingress's own certificate was used for.
type certified struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// newCertified makes a node's key.
func newCertified() (*certified, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &certified{key: key}, err
}

// request asks for a certificate.
func (c *certified) request(name string) (string, error) {
	text, err := authority.NewRequest(name, c.key)
	return string(text), err
}

// take keeps a certificate that was issued for this node instance, and for nobody else.
func (c *certified) take(text, node, instance string) error {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return errors.New("no certificate came back")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err
	}
	want := authority.Identity{NodeID: node, InstanceID: instance}
	if len(cert.URIs) != 1 || cert.URIs[0].String() != want.URI().String() || !c.key.PublicKey.Equal(cert.PublicKey) {
		return fmt.Errorf("%s was given a certificate of %v", want.URI(), cert.URIs)
	}
	c.cert = cert
	return nil
}

// header is what the ingress says of a connection that was made with the certificate.
func (c *certified) header() string {
	hash := sha256.Sum256(c.cert.Raw)
	return rest.ClientCert{Hash: hex.EncodeToString(hash[:]), Subject: c.cert.Subject.String(), URI: c.cert.URIs[0].String()}.String()
}

// ingressTLS is how the ingress connects to a node API of the authority in folder.
func ingressTLS(folder string) (*tls.Config, error) {
	a, err := authority.Open(folder)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	pair, err := a.Pair(authority.Identity{Service: authority.Ingress}, now.Add(-time.Hour), now.Add(24*time.Hour))
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: a.Pool(), MinVersion: tls.VersionTLS13}, nil
}

// renew asks for another certificate of the same node instance. One whose answer is lost is as good as none.
func (m remote) renew(ctx context.Context, w *Work) error {
	text, err := m.cert.request(m.node)
	if err != nil {
		return err
	}
	var renewed rest.Certificate
	if status, err := m.call(ctx, http.MethodPost, "/internal/v1/nodes/"+m.node+"/cert/renew", m.header(), rest.CertificateRequest{CertificateRequest: text}, &renewed); err != nil || status != http.StatusOK {
		return err
	}
	if err := m.cert.take(renewed.Certificate, m.node, m.instance); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Renewed++
	return nil
}

// renewing is a node that renews its certificate now and then, at some moment between its calls.
type renewing struct {
	remote
	work *Work
}

// renewals is about how many calls come between two of them.
const renewals = 8

func (m renewing) wait(ctx context.Context) (store.Task, bool, error) {
	if mathrand.N(renewals) == 0 {
		if err := m.renew(ctx, m.work); err != nil {
			return store.Task{}, false, err
		}
	}
	return m.remote.wait(ctx)
}
