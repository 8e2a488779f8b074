package lab

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority is a certificate authority that lives as long as the lab.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(name string, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-365 * 24 * time.Hour), NotAfter: now.Add(365 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{cert, key}, err
}

// issue signs a certificate that is valid until the given time; hosts makes it a server's.
func (a *authority) issue(name string, from, until time.Time, hosts ...string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if len(hosts) > 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// pki is every certificate of the lab.
type pki struct {
	ca     *authority
	server tls.Certificate
	nodes  map[string]tls.Certificate
}

// newPKI makes the certificates as the machines' specifications want them, good or bad, and writes the
// public halves to the data folder, for curl and for curiosity.
func newPKI(dir string, machines []machineSpec, now time.Time) (*pki, error) {
	ca, err := newAuthority("lab-ca", now)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	retired, err := newAuthority("lab-ca-retired", now)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	p := &pki{ca: ca, nodes: map[string]tls.Certificate{}}
	if p.server, err = ca.issue("ingress", now.Add(-time.Hour), now.Add(90*24*time.Hour), "127.0.0.1", "::1", "localhost"); err != nil {
		return nil, fmt.Errorf("issue server certificate: %w", err)
	}
	if err := writeCert(filepath.Join(dir, "pki", "ca.pem"), ca.cert.Raw); err != nil {
		return nil, err
	}
	for _, m := range machines {
		from, until, issuer := now.Add(-24*time.Hour), now.Add(24*time.Hour), ca
		switch m.cert {
		case certExpired:
			until = now.Add(-90 * time.Minute)
		case certUntrusted:
			issuer = retired
		}
		if p.nodes[m.id], err = issuer.issue(m.id, from, until); err != nil {
			return nil, fmt.Errorf("issue certificate of %s: %w", m.id, err)
		}
		if err := writeCert(filepath.Join(dir, "pki", m.id+".pem"), p.nodes[m.id].Certificate[0]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func writeCert(path string, der []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
}
