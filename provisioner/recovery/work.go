package recovery

import (
	"time"

	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/store"
)

// work is one action under way: its transaction, what it is done to, and what hangs on that.
type work struct {
	tx         *store.Tx
	asked      Request
	tokenLife  time.Duration
	allocation *store.Allocation // nil: there is none
	node       *store.Node
	message    *store.Message
	sent       []Change
	token      *Enrolment
}

// load reads what the request names, and what belongs to it.
func (w *work) load(of Kind) error {
	switch of {
	case Allocations:
		return w.loadAllocation(w.asked.ID)
	case Nodes:
		n, err := w.tx.Node(w.asked.ID)
		if err != nil {
			return err
		}
		w.node = &n
		if n.AllocationID == "" {
			return nil
		}
		a, err := w.tx.Allocation(n.AllocationID)
		w.allocation = &a
		return err
	}
	m, err := w.tx.Message(w.asked.ID)
	if err != nil {
		return err
	}
	w.message = &m
	if m.AllocationID == "" {
		return nil
	}
	if err := w.loadAllocation(m.AllocationID); err != nil {
		return err
	}
	m, err = w.tx.Message(w.asked.ID) // the relay may have had it meanwhile
	w.message = &m
	return err
}

func (w *work) loadAllocation(id string) error {
	a, err := w.tx.Allocation(id)
	if err != nil {
		return err
	}
	w.allocation = &a
	if a.NodeID == "" {
		return nil
	}
	n, err := w.tx.Node(a.NodeID)
	w.node = &n
	return err
}

// by is the asker as control knows it.
func (w *work) by() control.Asker {
	return control.Asker{Actor: w.asked.By.Actor, ActorType: w.asked.By.ActorType, Reason: w.asked.Reason}
}

// vouched reports whether somebody has seen that nothing runs any more, and says where that is written.
func (w *work) vouched() bool { return w.asked.Absent && w.asked.Evidence != "" }

func (w *work) nodeIs() string {
	if w.node == nil {
		return ""
	}
	return "node " + w.node.ID + " is " + w.node.Occupancy
}

func (w *work) allocationIs() string {
	if w.allocation == nil {
		return ""
	}
	return "allocation " + w.allocation.ID + " is " + w.allocation.State
}

// send leaves a message in the outbox, and says so.
func (w *work) send(subject, payload string) error {
	if _, err := w.tx.PutOutbox(subject, w.allocation.ID, payload); err != nil {
		return err
	}
	w.sent = append(w.sent, Change{Subject: "outbox", Field: subject, To: "pending"})
	return nil
}

// stateField is one state that an action may change.
type stateField struct{ subject, field, value string }

// snapshot is the state of everything that the action may move.
func (w *work) snapshot() []stateField {
	var out []stateField
	if w.allocation != nil {
		out = append(out, stateField{"allocation " + w.allocation.ID, "state", w.allocation.State})
	}
	if w.node != nil {
		out = append(out, stateField{"node " + w.node.ID, "occupancy", w.node.Occupancy})
	}
	if w.message != nil {
		out = append(out, stateField{"message " + w.message.ID, "state", w.message.State})
	}
	return out
}

// Change is one thing that is otherwise afterwards.
type Change struct {
	Subject string `json:"subject"` // kind and id: "allocation a-1"
	Field   string `json:"field"`
	From    string `json:"from"` // "" for what is new
	To      string `json:"to"`
}

// changes compares two snapshots of the same things.
func changes(before, after []stateField) []Change {
	out := []Change{}
	for i, b := range before {
		if a := after[i]; a.value != b.value {
			out = append(out, Change{b.subject, b.field, b.value, a.value})
		}
	}
	return out
}
