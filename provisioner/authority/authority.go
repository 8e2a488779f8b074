package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// Files in an authority's folder. The public certificate stands by itself for whoever has to trust it.
const (
	secretFile = "authority.pem"
	PublicFile = "ca.pem"
)

const (
	ownLife = 10 * 365 * 24 * time.Hour
	// backdate is how far behind a clock may be and still find a fresh certificate valid; a tenth of a short life.
	backdate = time.Minute
)

// Authority signs certificates. Safe for use by several goroutines.
type Authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// New makes an authority that nobody knows yet.
func New(name string, now time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-ownLife), NotAfter: now.Add(ownLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{cert, key}, err
}

// Open reads the authority of a folder; where there is none it makes one. Two processes that open the
// same empty folder end up with the same authority.
func Open(dir string) (*Authority, error) {
	path := filepath.Join(dir, secretFile)
	a, err := load(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = create(dir, path); err == nil {
			a, err = load(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open authority: %w", err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	if err := os.WriteFile(filepath.Join(dir, PublicFile), public, 0o644); err != nil { //nolint:gosec // it is public
		return nil, fmt.Errorf("open authority: %w", err)
	}
	return a, nil
}

// create writes a new authority aside and links it into place: the link fails where another process was
// quicker, and then that one's counts.
func create(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	a, err := New("faultline-node-ca", time.Now())
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, secretFile) // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func load(path string) (*Authority, error) {
	pair, err := tls.LoadX509KeyPair(path, path)
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, fmt.Errorf("%s: the certificate is no authority's", path)
	}
	return &Authority{pair.Leaf, key}, nil
}

// Certificate is the authority's own.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// Pool trusts this authority and no other.
func (a *Authority) Pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// Sign issues a client certificate for a node instance, for the key of its request.
func (a *Authority) Sign(r *x509.CertificateRequest, id Identity, now time.Time, life time.Duration) (*x509.Certificate, error) {
	return a.issue(r.PublicKey, id, now.Add(-min(backdate, life/10)), now.Add(life), nil)
}

// Pair makes a key and its certificate for [from, until): a service's, which others reach under hosts;
// or, for tests and simulated faults, any that one might meet.
func (a *Authority) Pair(id Identity, from, until time.Time, hosts ...string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := a.issue(&key.PublicKey, id, from, until, hosts)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}, nil
}

func (a *Authority) issue(public any, id Identity, from, until time.Time, hosts []string) (*x509.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: id.CommonName()}, URIs: []*url.URL{id.URI()}, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if id.Service != "" {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, public, a.key)
	if err != nil {
		return nil, fmt.Errorf("issue certificate of %s: %w", id.CommonName(), err)
	}
	return x509.ParseCertificate(der)
}

func serial() *big.Int {
	n, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // never fails since Go 1.24
	return n
}
