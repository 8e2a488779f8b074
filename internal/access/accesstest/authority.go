package accesstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"time"
)

// Authority issues certificates, for servers on this machine and for clients.
type Authority struct {
	Certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority makes one of that name.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a := &Authority{key: key, Certificate: template(name, time.Hour)}
	a.Certificate.IsCA, a.Certificate.BasicConstraintsValid, a.Certificate.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, a.Certificate, a.Certificate, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	a.Certificate, err = x509.ParseCertificate(der)
	return a, err
}

func template(name string, lasts time.Duration) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lasts),
	}
}

// Issue makes a certificate of that common name, good for a server on this machine and for a client, with further URIs
// and DNS names.
func (a *Authority) Issue(name string, lasts time.Duration, uris []string, dns ...string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	t := template(name, lasts)
	t.DNSNames, t.IPAddresses = dns, []net.IP{net.IPv4(127, 0, 0, 1)}
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, text := range uris {
		u, err := url.Parse(text)
		if err != nil {
			return tls.Certificate{}, err
		}
		t.URIs = append(t.URIs, u)
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.Certificate, &key.PublicKey, a.key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// Write writes the authority's own certificate to a file.
func (a *Authority) Write(path string) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate.Raw}), 0o600)
}

// WritePair writes an issued certificate and its key to files.
func WritePair(c tls.Certificate, certFile, keyFile string) error {
	secret, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err == nil {
		err = os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), 0o600)
	}
	if err == nil {
		err = os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
	}
	return err
}
