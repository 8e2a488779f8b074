package access_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/access/accesstest"
)

func authority(t *testing.T, name string) *accesstest.Authority {
	t.Helper()
	a, err := accesstest.NewAuthority(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// certified is a server whose callers show certificates, and what it held the last one for.
type certified struct {
	t       *testing.T
	address string
	trusts  *x509.CertPool
	who     access.Principal
	err     error
}

func (s *certified) asks(with *tls.Certificate, bearer string) error {
	s.t.Helper()
	c := &tls.Config{RootCAs: s.trusts}
	if with != nil {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return with, nil } // whatever the server would like
	}
	transport := &http.Transport{TLSClientConfig: c}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequest(http.MethodGet, "https://"+s.address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err == nil {
		_ = answer.Body.Close()
	}
	return err
}

func (s *certified) is(with *tls.Certificate, bearer, subject string, tenants []string, want access.Reason) {
	s.t.Helper()
	if err := s.asks(with, bearer); err != nil {
		s.t.Fatal(err)
	}
	var reason access.Reason
	if d := access.DenialOf(s.err); d != nil {
		reason = d.Reason
	}
	if reason != want || s.who.Subject != subject || !cmp.Equal(s.who.Tenants, tenants) {
		s.t.Errorf("%+v, %v; want %q of %#v, %q", s.who, s.err, subject, tenants, want)
	}
}

func TestClientCertificates(t *testing.T) {
	dir := t.TempDir()
	files := access.TLS{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem"), ClientCAFile: filepath.Join(dir, "clients.pem")}
	servers, first, second := authority(t, "servers"), authority(t, "first"), authority(t, "second")
	issue := func(a *accesstest.Authority, name string, lasts time.Duration, uris []string, dns ...string) *tls.Certificate {
		t.Helper()
		c, err := a.Issue(name, lasts, uris, dns...)
		if err != nil {
			t.Fatal(err)
		}
		return &c
	}
	if err := accesstest.WritePair(*issue(servers, "server", time.Hour, nil), files.CertFile, files.KeyFile); err != nil {
		t.Fatal(err)
	}
	if err := first.Write(files.ClientCAFile); err != nil {
		t.Fatal(err)
	}
	secret, token := access.NewToken("tom", access.Admin, time.Time{})
	now := time.Now()
	g, err := access.Open(access.Config{TLS: files, Tokens: []access.Token{token}, Certificates: []access.Certificate{
		{Subject: "vera", Role: access.Viewer, Tenants: access.Tenants{"blue"}},
		{Subject: "spiffe://example.org/page", Role: access.Viewer},
		{Subject: "scraper.example.org", Role: access.Admin},
	}}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := files.Secure(plain)
	if err != nil {
		t.Fatal(err)
	}
	s := &certified{t: t, address: l.Addr().String(), trusts: x509.NewCertPool()}
	s.trusts.AddCert(servers.Certificate)
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { s.who, s.err = g.Admit(r, access.Viewer) })}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })

	vera := issue(first, "vera", time.Hour, nil)
	s.is(nil, "", "", nil, access.TokenMissing)
	s.is(vera, "", "vera", []string{"blue"}, "")
	s.is(vera, secret, "tom", nil, "") // what is shown on purpose wins
	s.is(vera, "flt_nonsense", "", nil, access.TokenUnknown)
	s.is(nil, secret, "tom", nil, "")
	s.is(issue(first, "nobody", time.Hour, []string{"spiffe://example.org/page"}), "", "spiffe://example.org/page", nil, "")
	s.is(issue(first, "", time.Hour, nil, "scraper.example.org"), "", "scraper.example.org", nil, "")
	s.is(issue(first, "nobody", time.Hour, nil), "", "", nil, access.CertificateUnknown)
	s.is(issue(first, "spiffe://example.org/page", time.Hour, nil), "", "", nil, access.CertificateUnknown) // a common name is no URI
	if err := s.asks(issue(second, "vera", time.Hour, nil), ""); err == nil {
		t.Error("a certificate of somebody else's was accepted")
	}
	if err := s.asks(issue(first, "vera", -time.Minute, nil), ""); err == nil {
		t.Error("a certificate that has expired was accepted")
	}
	now = now.Add(2 * time.Hour) // while the connection stands
	s.is(vera, "", "vera", []string{"blue"}, access.TokenExpired)
	now = time.Now()

	if err := second.Write(files.ClientCAFile); err != nil { // the authority is another now
		t.Fatal(err)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(files.ClientCAFile, later, later); err != nil {
		t.Fatal(err)
	}
	s.is(issue(second, "vera", time.Hour, nil), "", "vera", []string{"blue"}, "")
	if err := s.asks(vera, ""); err == nil {
		t.Error("a certificate of an authority that is not trusted any more was accepted")
	}
}
