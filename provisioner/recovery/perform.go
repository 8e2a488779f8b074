package recovery

import (
	"fmt"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// What the actions do. Guards have been asked; the moves ask their own.

func retryRelease(w *work) error {
	return w.restart()
}

// restart is a new release; its message is written by control.
func (w *work) restart() error {
	w.sent = append(w.sent, Change{Subject: "outbox", Field: workflow.SubjectRelease, To: semconv.Pending})
	return control.Restart(w.tx, w.allocation, w.by())
}

func forceRelease(w *work) error {
	if err := w.stopTasks("forced release"); err != nil {
		return err
	}
	if w.node != nil && w.node.Occupancy != lifecycle.Cleanup {
		if err := w.tx.MoveNode(w.node, lifecycle.Cleanup, w.asked.Reason, lifecycle.NodeFacts{Actor: w.asked.By.Actor}); err != nil {
			return err
		}
	}
	return w.restart()
}

func forceCleanup(w *work) error {
	if w.node != nil {
		if err := w.free(); err != nil {
			return err
		}
		w.allocation.NodeID = ""
	}
	if w.allocation.State != semconv.ReleaseFailed {
		return nil
	}
	return w.tx.MoveAllocation(w.allocation, semconv.Released, w.asked.Reason, lifecycle.Facts{
		Actor: w.asked.By.Actor, Why: w.asked.Reason, Absent: w.asked.Absent, Evidence: w.asked.Evidence,
	})
}

// free gives the node back on somebody's word.
func (w *work) free() error {
	return w.tx.MoveNode(w.node, lifecycle.Free, w.asked.Reason, lifecycle.NodeFacts{Proof: w.asked.Evidence, Actor: w.asked.By.Actor})
}

func cancel(w *work) error {
	if w.allocation.State == semconv.Provisioning {
		w.sent = append(w.sent, Change{Subject: "outbox", Field: workflow.SubjectCancel, To: semconv.Pending})
	}
	if err := control.Cancel(w.tx, w.allocation, w.by()); err != nil {
		return err
	}
	if w.node != nil && w.allocation.NodeID == "" {
		n, err := w.tx.Node(w.node.ID)
		w.node = &n
		return err
	}
	return nil
}

func repairProjection(w *work) error {
	a := w.allocation
	if err := w.send("allocation."+a.State, fmt.Sprintf(`{"version":%d}`, a.Version)); err != nil {
		return err
	}
	jobs, err := w.tx.ProviderJobs(a.ID)
	if err != nil || len(jobs) == 0 {
		return err
	}
	return w.send(workflow.SubjectProjection, "{}")
}

func fence(w *work) error {
	return w.tx.MoveNode(w.node, lifecycle.Fenced, w.asked.Reason, lifecycle.NodeFacts{Actor: w.asked.By.Actor})
}

func unfence(w *work) error {
	if w.allocation == nil {
		return w.free()
	}
	return w.tx.MoveNode(w.node, lifecycle.Cleanup, w.asked.Reason, lifecycle.NodeFacts{Actor: w.asked.By.Actor})
}

func reEnrol(w *work) error {
	secret, expires := control.NewToken(), w.tx.Now().Add(w.tokenLife)
	if err := w.tx.PutEnrolment(fleet.Hash(secret), w.node.ID, expires); err != nil {
		return err
	}
	w.token = &Enrolment{Token: secret, ExpiresAt: expires.UTC()}
	w.sent = append(w.sent, Change{Subject: "node " + w.node.ID, Field: "enrolment token", To: "issued"})
	return nil
}

func republish(w *work) error { return w.tx.ReviveMessage(w.message) }

// skip settles an allocation that waited for the message: otherwise it would wait for ever, and no other
// action would be legal.
func skip(w *work) error {
	m, a := w.message, w.allocation
	if err := w.tx.SkipMessage(m, w.asked.Reason); err != nil || a == nil {
		return err
	}
	why := "message " + m.ID + " was skipped: " + w.asked.Reason
	facts := lifecycle.Facts{Actor: w.asked.By.Actor, Why: w.asked.Reason}
	switch {
	case m.Subject == workflow.SubjectProvision && a.State == semconv.Requested:
		return w.tx.MoveAllocation(a, semconv.Failed, why, facts)
	case m.Subject == workflow.SubjectRelease && a.State == semconv.Releasing:
		return w.tx.MoveAllocation(a, semconv.ReleaseFailed, why, facts)
	case m.Subject != workflow.SubjectCancel || a.State != semconv.Canceling:
		return nil // nobody waits for it
	}
	if err := w.stopTasks(why); err != nil {
		return err
	}
	if w.node != nil && (w.node.Occupancy == lifecycle.Reserved || w.node.Occupancy == lifecycle.Occupied) {
		if err := w.tx.MoveNode(w.node, lifecycle.Cleanup, why, lifecycle.NodeFacts{}); err != nil {
			return err
		}
	}
	if err := w.tx.MoveAllocation(a, semconv.Releasing, why, facts); err != nil {
		return err
	}
	return w.tx.MoveAllocation(a, semconv.ReleaseFailed, why, facts)
}

// stopTasks cancels what is still open: what agents report of it must not count any more.
func (w *work) stopTasks(why string) error {
	open, err := w.tx.OpenTasks(w.allocation.ID)
	if err != nil {
		return err
	}
	for _, k := range open {
		from := k.State
		if err := w.tx.MoveTask(&k, semconv.Canceled, why); err != nil {
			return err
		}
		w.sent = append(w.sent, Change{"task " + k.ID, "state", from, k.State})
	}
	return nil
}
