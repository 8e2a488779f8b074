package authority

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
)

// NewRequest makes a certificate request (PEM) for a node's key.
func NewRequest(name string, key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, key)
	if err != nil {
		return nil, fmt.Errorf("make certificate request: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), nil
}

// ReadRequest reads a certificate request (PEM), and makes sure that whoever made it holds its key and
// that it asks for nothing: names are the authority's to give. An error says what is wrong with it.
func ReadRequest(text []byte) (*x509.CertificateRequest, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" || len(rest) > 0 {
		return nil, errors.New("it is not one PEM block of type CERTIFICATE REQUEST")
	}
	r, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, errors.New("it is no PKCS #10 request")
	}
	if err := r.CheckSignature(); err != nil {
		return nil, errors.New("its signature does not fit its key")
	}
	switch key := r.PublicKey.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() && key.Curve != elliptic.P384() {
			return nil, errors.New("its key is on a curve that is not taken: P-256, P-384 or Ed25519")
		}
	case ed25519.PublicKey:
	default:
		return nil, errors.New("its key is of a kind that is not taken: P-256, P-384 or Ed25519")
	}
	if len(r.DNSNames)+len(r.IPAddresses)+len(r.EmailAddresses)+len(r.URIs)+len(r.Extensions) > 0 {
		return nil, errors.New("it asks for names or extensions; the node API gives them")
	}
	return r, nil
}

// KeyHash tells requests for one key from those for another.
func KeyHash(r *x509.CertificateRequest) string {
	sum := sha256.Sum256(r.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}
