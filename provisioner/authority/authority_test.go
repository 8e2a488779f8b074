package authority_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/faultline-io/faultline/provisioner/authority"
)

func TestOneAuthorityInOneFolder(t *testing.T) {
	dir := t.TempDir()
	var made [8]*authority.Authority
	var work sync.WaitGroup
	for i := range made {
		work.Go(func() { made[i], _ = authority.Open(dir) })
	}
	work.Wait()
	for _, a := range made {
		if a == nil || !a.Certificate().Equal(made[0].Certificate()) {
			t.Fatal("two authorities in one folder")
		}
	}
}

func TestACertificateNamesItsNodeInstance(t *testing.T) {
	a, err := authority.New("ca", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	text, err := authority.NewRequest("n-1", key)
	if err != nil {
		t.Fatal(err)
	}
	r, err := authority.ReadRequest(text)
	if err != nil {
		t.Fatal(err)
	}
	want := authority.Identity{NodeID: "n-1", InstanceID: "ni-1"}
	cert, err := a.Sign(r, want, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cert.Verify(x509.VerifyOptions{Roots: a.Pool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Fatal(err)
	}
	if got, err := authority.ParseIdentity(cert.URIs[0].String()); err != nil || got != want || cert.Subject.String() != "CN=n-1" {
		t.Fatal(got, err, cert.Subject)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	make := func(r x509.CertificateRequest, key any) []byte {
		der, err := x509.CreateCertificateRequest(rand.Reader, &r, key)
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	}
	refused := func(text []byte, why string) {
		t.Helper()
		if _, err := authority.ReadRequest(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("got %v, want %q", err, why)
		}
	}
	good := make(x509.CertificateRequest{Subject: pkix.Name{CommonName: "n-1"}}, key)
	refused(nil, "not one PEM block")
	refused([]byte("hello"), "not one PEM block")
	refused(append(good, good...), "not one PEM block")
	refused(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte{1, 2, 3}}), "no PKCS #10")
	refused(make(x509.CertificateRequest{DNSNames: []string{"ingress"}}, key), "asks for names")
	small, _ := rsa.GenerateKey(rand.Reader, 2048)
	refused(make(x509.CertificateRequest{}, small), "kind that is not taken")
	odd, _ := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	refused(make(x509.CertificateRequest{}, odd), "curve that is not taken")
	// Forged: somebody else's key under a signature that is not theirs.
	block, _ := pem.Decode(good)
	r, _ := x509.ParseCertificateRequest(block.Bytes)
	other, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	spki, _ := x509.MarshalPKIXPublicKey(&other.PublicKey)
	forged := strings.Replace(string(block.Bytes), string(r.RawSubjectPublicKeyInfo), string(spki), 1)
	refused(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte(forged)}), "signature does not fit")
}

func FuzzReadRequest(f *testing.F) {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	text, _ := authority.NewRequest("n-1", key)
	f.Add(text)
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = authority.ReadRequest(text) })
}

func FuzzParseIdentity(f *testing.F) {
	f.Add("spiffe://faultline/node/n-1/instance/ni-1")
	f.Add("spiffe://faultline/service/ingress")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := authority.ParseIdentity(text); err == nil {
			if again, err := authority.ParseIdentity(id.URI().String()); err != nil || again != id {
				t.Fatalf("%q: %+v, then %+v, %v", text, id, again, err)
			}
		}
	})
}
