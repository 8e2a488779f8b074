package access

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// TLS is the certificate that the control API shows. Without one it speaks plain HTTP, and something in
// front of it must keep tokens from being read on the way.
type TLS struct {
	CertFile string `yaml:"cert_file,omitempty"`
	KeyFile  string `yaml:"key_file,omitempty"`
}

func (c TLS) validate() error {
	if (c.CertFile == "") != (c.KeyFile == "") {
		return errors.New("access.tls: cert_file and key_file go together")
	}
	return nil
}

// Secure has a listener speak TLS, where a certificate is configured. A certificate that is renewed in
// its files is shown from the next connection on; one that cannot be read leaves the one before in use.
func (c TLS) Secure(l net.Listener) (net.Listener, error) {
	if c.CertFile == "" {
		return l, nil
	}
	shown := &certificate{files: c}
	if _, err := shown.get(nil); err != nil {
		return nil, fmt.Errorf("access.tls: %w", err)
	}
	return tls.NewListener(l, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: shown.get, NextProtos: []string{"http/1.1"}}), nil
}

// certificate is read again when its files change.
type certificate struct {
	files TLS

	mu      sync.Mutex
	current *tls.Certificate
	changed time.Time
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(c.files.CertFile)
	if err == nil && c.current != nil && info.ModTime().Equal(c.changed) {
		return c.current, nil
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(c.files.CertFile, c.files.KeyFile)
	}
	switch {
	case err == nil:
		c.current, c.changed = &pair, info.ModTime()
	case c.current == nil:
		return nil, err
	}
	return c.current, nil
}
