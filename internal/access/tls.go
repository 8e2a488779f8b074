package access

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// TLS is the certificate that an API shows, and who vouches for those of its callers. Without one it speaks plain
// HTTP, and something in front of it must keep tokens from being read on the way.
type TLS struct {
	CertFile string `yaml:"cert_file,omitempty"`
	KeyFile  string `yaml:"key_file,omitempty"`
	// ClientCAFile holds who vouches for client certificates; absent: nobody is asked for one.
	ClientCAFile string `yaml:"client_ca_file,omitempty"`
}

func (c TLS) validate() error {
	switch {
	case (c.CertFile == "") != (c.KeyFile == ""):
		return errors.New("access.tls: cert_file and key_file go together")
	case c.ClientCAFile != "" && c.CertFile == "":
		return errors.New("access.tls.client_ca_file: client certificates come over TLS: set cert_file and key_file")
	}
	return nil
}

// Secure has a listener speak TLS, where a certificate is configured. What is renewed in its files counts from the next
// connection on; what cannot be read leaves what was there before in use. A client need not show a certificate, but
// one that it shows is verified.
func (c TLS) Secure(l net.Listener) (net.Listener, error) {
	if c.CertFile == "" {
		return l, nil
	}
	own := &watched[tls.Certificate]{paths: []string{c.CertFile, c.KeyFile}, read: func() (tls.Certificate, error) {
		return tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	}}
	if _, err := own.get(); err != nil {
		return nil, fmt.Errorf("access.tls: %w", err)
	}
	base := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := own.get()
		return &pair, err
	}}
	if c.ClientCAFile == "" {
		return tls.NewListener(l, base), nil
	}
	trusted := &watched[*x509.CertPool]{paths: []string{c.ClientCAFile}, read: func() (*x509.CertPool, error) { return pool(c.ClientCAFile) }}
	if _, err := trusted.get(); err != nil {
		return nil, fmt.Errorf("access.tls.client_ca_file: %w", err)
	}
	base.ClientAuth, base.SessionTicketsDisabled = tls.VerifyClientCertIfGiven, true // a resumed session would not ask who vouches now
	asking := base.Clone()
	asking.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		authorities, err := trusted.get()
		one := base.Clone()
		one.ClientCAs = authorities
		return one, err
	}
	return tls.NewListener(l, asking), nil
}

// NotAfter is until when the certificate in the file is good, the zero time where there is none. The chain's end counts: its authorities expire, too.
func (c TLS) NotAfter() (time.Time, error) {
	if c.CertFile == "" {
		return time.Time{}, nil
	}
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return time.Time{}, fmt.Errorf("access.tls: %w", err)
	}
	until := pair.Leaf.NotAfter
	for _, der := range pair.Certificate[1:] {
		above, err := x509.ParseCertificate(der)
		if err != nil {
			return time.Time{}, fmt.Errorf("access.tls: %s: %w", c.CertFile, err)
		}
		if above.NotAfter.Before(until) {
			until = above.NotAfter
		}
	}
	return until, nil
}

// pool reads the certificates of a file.
func pool(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("no certificate in %s", path)
	}
	return p, nil
}
