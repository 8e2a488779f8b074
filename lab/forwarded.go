package lab

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"

	"github.com/faultline-io/faultline/provisioner/rest"
)

// forwarded is what the ingress says of the client certificate that it has verified.
func forwarded(c *tls.ConnectionState) string {
	leaf := c.PeerCertificates[0]
	sum := sha256.Sum256(leaf.Raw)
	out := rest.ClientCert{Hash: hex.EncodeToString(sum[:]), Subject: leaf.Subject.String()}
	if len(leaf.URIs) == 1 {
		out.URI = leaf.URIs[0].String()
	}
	return out.String()
}
