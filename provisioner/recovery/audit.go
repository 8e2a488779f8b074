package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/faultline-io/faultline/provisioner/store"
)

// audit is the row of an action that was done.
func (a Action) audit(r Request, w *work, v Verdict, before []stateField, done []Change) store.Audit {
	row := a.row(r, w, v)
	row.Before = describe(before)
	row.After = describe(w.snapshot())
	var also []string
	for _, c := range done {
		if c.Subject == "outbox" {
			also = append(also, "message "+c.Field+" written")
		}
	}
	row.Detail = strings.Join(also, ", ")
	return row
}

// row is what every audit row of an action has.
func (a Action) row(r Request, w *work, v Verdict) store.Audit {
	text, _ := json.Marshal(v) // of strings
	row := store.Audit{
		Actor: r.By.Actor, ActorType: r.By.ActorType, Via: r.By.Via, Action: a.Audit, AllocationID: w.allocationID(), NodeID: w.nodeID(),
		Reason: r.Reason, Verdict: string(text),
	}
	if r.Absent {
		row.Evidence = r.Evidence
	}
	if a.Of == Messages {
		row.Subject = "message " + r.ID
	}
	return row
}

// refuse writes down that a guard refused an action. The action's own transaction is gone.
func (d *Service) refuse(ctx context.Context, a Action, r Request, why *Refusal, w *work, v Verdict) error {
	return d.store.Update(ctx, "refused recovery", func(t *store.Tx) error {
		row := a.row(r, w, v)
		row.Outcome, row.Detail, row.Before = store.Refused, fmt.Sprintf("guard %s: %s", why.Guard, why), describe(w.snapshot())
		row.Evidence = "" // it proved nothing
		_, err := t.PutAudit(row)
		return err
	})
}

// Deny writes down that somebody wanted to do what it may not.
func (d *Service) Deny(ctx context.Context, of Kind, name, id string, by By, why string) error {
	action := string(of) + "/" + name
	if a, ok := Named(of, name); ok {
		action = a.Audit
	}
	row := store.Audit{Actor: by.Actor, ActorType: by.ActorType, Via: by.Via, Action: action, Outcome: store.Denied, Detail: why}
	switch of {
	case Allocations:
		row.AllocationID = id
	case Nodes:
		row.NodeID = id
	default:
		row.Subject = "message " + id
	}
	return d.store.Update(ctx, "denied recovery", func(t *store.Tx) error {
		_, err := t.PutAudit(row)
		return err
	})
}

// describe is a snapshot in words: "allocation a-1 release_failed, node n-1 fenced".
func describe(snapshot []stateField) string {
	var out []string
	for _, f := range snapshot {
		out = append(out, f.subject+" "+f.value)
	}
	return strings.Join(out, ", ")
}

func (w *work) allocationID() string {
	if w.allocation == nil {
		return ""
	}
	return w.allocation.ID
}

func (w *work) nodeID() string {
	if w.node == nil {
		return ""
	}
	return w.node.ID
}
