// Package control is what tenants and operators may ask of the provisioner: create, cancel and release
// allocations, and register nodes. Each request is one transaction: the change,
// its audit row and the outbox message that sets a workflow going are there together or not at all.
package control

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Control serves tenants and operators.
type Control struct {
	store     *store.Store
	tokenLife time.Duration
	catalog   Catalog
}

// New makes a control on a store; tokenLife is that of enrolment tokens.
func New(s *store.Store, tokenLife time.Duration) *Control {
	return &Control{store: s, tokenLife: tokenLife}
}

// Offering has c take requests for what a catalog lists, and no others.
func (c *Control) Offering(catalog Catalog) *Control {
	c.catalog = catalog
	return c
}

// Request is what a tenant wants. An empty ID gets one; a known ID with the same wishes is the same
// request, sent again.
type Request struct{ ID, Pool, Image, RequestedBy string }

// Create accepts a request. created is false where it was accepted before.
func (c *Control) Create(ctx context.Context, r Request) (a store.Allocation, created bool, err error) {
	if r.ID == "" {
		r.ID = telemetry.NewID("a")
	}
	ctx = telemetry.With(ctx, semconv.AllocationID, r.ID)
	err = c.store.Update(ctx, "create allocation", func(t *store.Tx) error {
		a, err = t.Allocation(r.ID)
		if err == nil {
			if a.Pool != r.Pool || a.Image != r.Image || a.RequestedBy != r.RequestedBy {
				return lifecycle.Refuse(lifecycle.AllocationExists, "allocation "+r.ID, "it was requested with other wishes")
			}
			return nil
		}
		if !store.IsNotFound(err) {
			return err
		}
		if err := c.catalog.check(r); err != nil {
			return err
		}
		created = true
		if a, err = t.CreateAllocation(store.Allocation{
			ID: r.ID, Pool: r.Pool, Image: r.Image, RequestedBy: r.RequestedBy, CorrelationID: telemetry.ID(ctx, semconv.CorrelationID),
		}); err != nil {
			return err
		}
		_, err = t.PutOutbox(workflow.SubjectProvision, a.ID, `{"pool":"`+a.Pool+`"}`)
		return err
	})
	return a, created && err == nil, err
}

// Get reads one allocation.
func (c *Control) Get(ctx context.Context, id string) (a store.Allocation, err error) {
	err = c.store.View(ctx, "read allocation", func(t *store.Tx) error {
		a, err = t.Allocation(id)
		return err
	})
	return a, err
}

// List reads allocations, newest first.
func (c *Control) List(ctx context.Context, f store.Filter) (all []store.Allocation, err error) {
	err = c.store.View(ctx, "list allocations", func(t *store.Tx) error {
		all, err = t.Allocations(f)
		return err
	})
	return all, err
}

// Asker is who wants something, and why.
type Asker struct{ Actor, ActorType, Reason string }

// Cancel stops an allocation that is not active yet. Before any work it is over at once; later a
// workflow cleans up. Cancelling twice is cancelling once.
func (c *Control) Cancel(ctx context.Context, id string, by Asker) (a store.Allocation, err error) {
	err = c.change(ctx, "cancel allocation", "cancel", id, by, &a, func(t *store.Tx) error { return Cancel(t, &a, by) })
	return a, err
}

// Release ends an allocation that is or was in use, or tries again where that has failed.
func (c *Control) Release(ctx context.Context, id string, by Asker) (a store.Allocation, err error) {
	err = c.change(ctx, "release allocation", "release", id, by, &a, func(t *store.Tx) error { return Release(t, &a, by) })
	return a, err
}

// change reads an allocation, lets f move it, and writes who asked if anything has changed.
func (c *Control) change(ctx context.Context, group, action, id string, by Asker, a *store.Allocation, f func(*store.Tx) error) error {
	ctx = telemetry.With(ctx, semconv.AllocationID, id)
	return c.store.Update(ctx, group, func(t *store.Tx) (err error) {
		if *a, err = t.Allocation(id); err != nil {
			return err
		}
		before := *a
		if err := f(t); err != nil || a.State == before.State {
			return err
		}
		_, err = t.PutAudit(store.Audit{
			Actor: by.Actor, ActorType: by.ActorType, Action: action, AllocationID: a.ID, NodeID: before.NodeID,
			Reason: by.Reason, Before: before.State, After: a.State, Via: access.Of(ctx).Via,
		})
		return err
	})
}

// NewToken is a secret of 128 bits.
func NewToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

// RegisterNode adds a node to the inventory, if it is not there yet, and issues a one-time token for
// its agent to enrol with.
func (c *Control) RegisterNode(ctx context.Context, id, pool string) (token string, expires time.Time, err error) {
	token, expires = NewToken(), c.store.Now().Add(c.tokenLife)
	err = c.store.Update(ctx, "register node", func(t *store.Tx) error {
		if err := t.RegisterNode(id, pool); err != nil {
			return err
		}
		return t.PutEnrolment(fleet.Hash(token), id, expires)
	})
	return token, expires, err
}

// Nodes reads the inventory.
func (c *Control) Nodes(ctx context.Context) (all []store.Node, err error) {
	err = c.store.View(ctx, "list nodes", func(t *store.Tx) error {
		all, err = t.Nodes()
		return err
	})
	return all, err
}

// Node reads one node.
func (c *Control) Node(ctx context.Context, id string) (n store.Node, err error) {
	err = c.store.View(ctx, "read node", func(t *store.Tx) error {
		n, err = t.Node(id)
		return err
	})
	return n, err
}

// Audit reads the audit log, newest first.
func (c *Control) Audit(ctx context.Context, f store.AuditFilter) (rows []store.Audit, err error) {
	err = c.store.View(ctx, "read audit log", func(t *store.Tx) error {
		rows, err = t.AuditLog(f)
		return err
	})
	return rows, err
}
