package fleet

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/provisioner/authority"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Enrolment is an agent's first word: its token, what it says of its node, and the certificate request
// (PEM) for its key, which a fleet with an authority wants and one without has no use for.
type Enrolment struct {
	Token, BootID, HostName string
	Request                 []byte
}

// Enrol is Admit for a fleet without an authority.
func (f *Fleet) Enrol(ctx context.Context, token, boot, host string) (Agent, error) {
	a, _, err := f.Admit(ctx, Enrolment{Token: token, BootID: boot, HostName: host})
	return a, err
}

// Admit spends a one-time token and opens a new node instance on the token's node. An agent that never saw
// the answer may ask again with the same token and the same key: it is the same node instance. cert is nil
// without an authority.
func (f *Fleet) Admit(ctx context.Context, e Enrolment) (a Agent, cert *x509.Certificate, err error) {
	a.InstanceID = telemetry.NewID("ni")
	request, key, err := f.issuer.read("enrolment", e.Request)
	if err != nil {
		f.Refused(ctx, Attempt{Action: "enrol", Actor: e.HostName}, err)
		return a, nil, err
	}
	hash := Hash(e.Token)
	err = f.store.Update(ctx, "enrol node", func(t *store.Tx) error {
		earlier, err := t.Enrolment(hash)
		if err != nil && !store.IsNotFound(err) {
			return err
		}
		a.NodeID = earlier.NodeID
		node, err := t.UseEnrolment(hash)
		if err != nil {
			return spentToken(t, err, earlier, key, &a)
		}
		n, err := t.Node(node)
		if err != nil {
			return err
		}
		a.NodeID = node
		if err := t.OpenInstance(&n, a.InstanceID, e.BootID, e.HostName); err != nil || key == "" {
			return err
		}
		return t.PutEnrolmentUse(hash, a.InstanceID, key)
	})
	if err != nil {
		f.Refused(ctx, Attempt{Action: "enrol", Actor: e.HostName, NodeID: a.NodeID}, err)
		return a, nil, err
	}
	cert, err = f.issuer.sign(request, a, f.store.Now())
	return a, cert, err
}

// spentToken decides about a token that cannot be spent: whoever spent it may have the answer again as long as
// the node instance is the live one and the token would still be good; anybody else is refused, in words
// that say which of the three it is.
func spentToken(t *store.Tx, refused error, e store.Enrolment, key string, a *Agent) error {
	switch {
	case e.NodeID == "":
		return refuseToken("it was never issued")
	case e.UsedAt.IsZero():
		return refuseToken("it was good until " + e.ExpiresAt.Format(time.RFC3339) + " by the node API's clock")
	case key == "" || e.Key != key || !e.ExpiresAt.After(t.Now()):
		return refuseToken(fmt.Sprintf("it was used at %s to enrol %s as %s", e.UsedAt.Format(time.RFC3339), e.NodeID, e.InstanceID))
	}
	n, err := t.Node(e.NodeID)
	if err != nil {
		return err
	}
	if n.InstanceID != e.InstanceID {
		return refused
	}
	a.InstanceID = e.InstanceID
	return nil
}

func refuseToken(why string) error {
	return lifecycle.Refuse(lifecycle.EnrolmentToken, "enrolment", "the token is unknown, used or too old: "+why)
}

// Hash is the form in which tokens are kept.
func Hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// RenewCertificate issues the live node instance another certificate, for the key of request (PEM).
func (f *Fleet) RenewCertificate(ctx context.Context, a Agent, request []byte) (*x509.Certificate, error) {
	r, _, err := f.issuer.read("certificate of "+a.NodeID, request)
	if err == nil {
		err = f.store.Update(ctx, "renew certificate", func(t *store.Tx) error {
			if _, err := f.callerNode(t, a); err != nil {
				return err
			}
			return t.Seen(a.NodeID)
		})
	}
	if err != nil {
		f.Refused(ctx, Attempt{Action: "renew_certificate", Actor: a.NodeID, NodeID: a.NodeID}, err)
		return nil, err
	}
	return f.issuer.sign(r, a, f.store.Now())
}

// issuer is the authority of a fleet, if it has one.
type issuer struct {
	authority *authority.Authority
	life      time.Duration
}

// Certify has the fleet issue certificates for life, and believe nobody without one.
func (f *Fleet) Certify(a *authority.Authority, life time.Duration) { f.issuer = issuer{a, life} }

// Certified reports whether agents are known by their certificates.
func (f *Fleet) Certified() bool { return f.issuer.authority != nil }

// read checks a request; all results are empty without an authority.
func (i issuer) read(subject string, text []byte) (r *x509.CertificateRequest, key string, err error) {
	if i.authority == nil {
		return nil, "", nil
	}
	if len(text) == 0 {
		return nil, "", lifecycle.Refuse(lifecycle.CertificateRequest, subject, "a certificate_request is needed (PEM, PKCS #10)")
	}
	if r, err = authority.ReadRequest(text); err != nil {
		return nil, "", lifecycle.Refuse(lifecycle.CertificateRequest, subject, err.Error())
	}
	return r, authority.KeyHash(r), nil
}

func (i issuer) sign(r *x509.CertificateRequest, a Agent, now time.Time) (*x509.Certificate, error) {
	if i.authority == nil {
		return nil, nil
	}
	return i.authority.Sign(r, authority.Identity{NodeID: a.NodeID, InstanceID: a.InstanceID}, now, i.life)
}
