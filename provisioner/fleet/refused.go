package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
)

// Attempt is what somebody tried who was refused: they may not be who they say.
type Attempt struct {
	Action string // enrol, renew_certificate, result …
	Actor  string // as they name themselves, or their certificate does
	NodeID string // the node it was about, "" where nobody knows
}

// Refused writes an audit row for an attempt that was refused because of who made it. Other errors are
// none of its business: a claim that came to nothing is told by the task. An agent tries again every few
// seconds; the same refusal is written down once a minute.
func (f *Fleet) Refused(ctx context.Context, a Attempt, err error) {
	var r *lifecycle.Refusal
	if !errors.As(err, &r) || !aboutIdentity(r.Reason) || !f.refusals.allow(a, r.Reason, f.store.Now()) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	_ = f.store.Update(ctx, "audit refusal", func(t *store.Tx) error { // a broken store tells of itself
		_, err := t.PutAudit(store.Audit{
			Actor: a.Actor, ActorType: "system", Via: "certificate", Action: a.Action, NodeID: a.NodeID, Outcome: store.Denied, Detail: r.Error(),
		})
		return err
	})
}

func aboutIdentity(r lifecycle.Reason) bool {
	switch r {
	case lifecycle.EnrolmentToken, lifecycle.NoCertificate, lifecycle.WrongCertificate, lifecycle.CertificateRequest,
		lifecycle.SupersededInstance, lifecycle.WrongClaim, lifecycle.UnknownNode:
		return true
	}
	return false
}

// Bounds of the rateLimiter.
const (
	auditInterval = time.Minute
	maxRefusals   = 4096
)

// rateLimiter lets one refusal of a kind through each minute. It forgets rather than grows.
type rateLimiter struct {
	mu   sync.Mutex
	last map[refusalKey]time.Time
}

type refusalKey struct {
	Attempt
	reason lifecycle.Reason
}

func (d *rateLimiter) allow(a Attempt, r lifecycle.Reason, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := refusalKey{a, r}
	if last, ok := d.last[k]; ok && now.Sub(last) < auditInterval {
		return false
	}
	if d.last == nil || len(d.last) >= maxRefusals {
		d.last = map[refusalKey]time.Time{}
	}
	d.last[k] = now
	return true
}
