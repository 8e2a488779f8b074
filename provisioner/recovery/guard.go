package recovery

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
)

// Guard is a condition of an action. Those that look at the request alone say nothing about whether an
// action is legal now.
type Guard struct {
	Name      string           // what must hold
	Refusal   lifecycle.Reason // of an action for which it doesn't; it says what would satisfy the guard
	OfRequest bool
	// fails gives the words of a refusal, "" where the guard holds.
	fails  func(*work) (string, error)
	remedy string // "": the reason's
}

// SatisfiedBy is what would satisfy the guard.
func (g Guard) SatisfiedBy() string {
	if g.remedy != "" {
		return g.remedy
	}
	return g.Refusal.Remedy()
}

var (
	reasonGiven = Guard{Name: "reason_given", Refusal: lifecycle.UnnamedActor, OfRequest: true, fails: func(w *work) (string, error) {
		return when(w.asked.By.Actor == "" || strings.TrimSpace(w.asked.Reason) == "", "who wants this, and why?"), nil
	}}
	// verifiedAbsent stands in lifecycle too: the moves to free and to released ask it again.
	verifiedAbsent = Guard{Name: "verified_absent", Refusal: lifecycle.EvidenceMissing, OfRequest: true, fails: func(w *work) (string, error) {
		return when(!w.vouched(), "somebody must have seen that nothing runs any more, and say where that is written"), nil
	}}
	absentIfNobodys = Guard{Name: "verified_absent_if_nobodys", Refusal: lifecycle.EvidenceMissing, OfRequest: true, fails: func(w *work) (string, error) {
		return when(w.allocation == nil && !w.vouched(), "no allocation holds the node, so that no release will prove that it is clean"), nil
	}}
	noOpenWorkflow = Guard{Name: "no_open_workflow", Refusal: lifecycle.OperationInProgress, fails: func(w *work) (string, error) {
		for _, op := range []string{lifecycle.OperationProvision, lifecycle.OperationRelease, lifecycle.OperationCancel} {
			open, err := w.tx.OpenWorkflow(w.allocation.ID, op)
			if err == nil {
				return "workflow " + open.ID + " (" + op + ") is " + open.State, nil
			}
			if !store.IsNotFound(err) {
				return "", err
			}
		}
		return when(!lifecycle.Settled(w.allocation.State), w.allocationIs()+", and its workflow has not begun"), nil
	}}
	noOpenWork = Guard{Name: "no_open_work", Refusal: lifecycle.OperationInProgress, fails: func(w *work) (string, error) {
		tasks, err := w.tx.OpenTasks(w.allocation.ID)
		if err != nil || len(tasks) > 0 {
			return when(err == nil, "a task of it is still open"), err
		}
		jobs, err := w.tx.ProviderJobs(w.allocation.ID)
		for _, j := range jobs {
			if j.Phase != store.JobEnded {
				return "job " + j.Key + " is still " + j.Phase, nil
			}
		}
		return "", err
	}}
	nodeInCleanup = Guard{Name: "node_in_cleanup", Refusal: lifecycle.NodeNotInCleanup, fails: func(w *work) (string, error) {
		return when(w.node != nil && w.node.Occupancy != lifecycle.Cleanup && w.node.Occupancy != lifecycle.Fenced, w.nodeIs()), nil
	}}
	nodeNotFenced = Guard{Name: "node_not_fenced", Refusal: lifecycle.NodeFenced, fails: func(w *work) (string, error) {
		return when(w.node != nil && w.node.Occupancy == lifecycle.Fenced, w.nodeIs()), nil
	}}
	// A node that is set aside, and fenced, cannot be given back; its workflow gives up, and cleanup is owed.
	reservedNotFenced = Guard{Name: "reserved_node_not_fenced", Refusal: lifecycle.NodeFenced, fails: func(w *work) (string, error) {
		return when(w.allocation.State == semconv.Reserved && w.node != nil && w.node.Occupancy == lifecycle.Fenced, w.nodeIs()), nil
	}}
	fenced = Guard{Name: "node_fenced", Refusal: lifecycle.NodeNotFenced, fails: func(w *work) (string, error) {
		return when(w.node.Occupancy != lifecycle.Fenced, w.nodeIs()), nil
	}}
	settled = Guard{Name: "allocation_settled", Refusal: lifecycle.OperationInProgress, remedy: "an allocation whose release has failed, or that has failed itself: release it first", fails: func(w *work) (string, error) {
		a := w.allocation
		return when(a != nil && a.State != semconv.ReleaseFailed && a.State != semconv.Failed, w.allocationIs()), nil
	}}
	noClaim = Guard{Name: "no_claim_held", Refusal: lifecycle.ClaimHeld, fails: func(w *work) (string, error) {
		held, err := w.tx.ClaimsOf(w.node.ID)
		if err != nil || len(held) == 0 {
			return "", err
		}
		return "task " + held[0].ID + " is claimed until " + held[0].Claim.LeaseUntil.UTC().Format(stamp), nil
	}}
	notPublished = Guard{Name: "message_not_published", Refusal: lifecycle.MessagePublished, fails: func(w *work) (string, error) {
		return when(w.message.State == semconv.Published, "it was published at "+w.message.PublishedAt.UTC().Format(stamp)), nil
	}}
	notSkipped = Guard{Name: "message_not_skipped", Refusal: lifecycle.MessageSkipped, fails: func(w *work) (string, error) {
		skipped, err := w.tx.Skipped(w.message.ID)
		return when(skipped, "it was skipped"), err
	}}
)

const stamp = "2006-01-02T15:04:05Z"

// in wants the allocation in one of the states.
func in(name string, states ...string) Guard {
	return Guard{
		Name: name, Refusal: lifecycle.IllegalMove, remedy: "an allocation that is one of: " + strings.Join(states, ", "),
		fails: func(w *work) (string, error) {
			return when(!slices.Contains(states, w.allocation.State), w.allocationIs()), nil
		},
	}
}

// occupied wants the node in one of the occupancies.
func occupied(name string, by ...string) Guard {
	return Guard{
		Name: name, Refusal: lifecycle.IllegalMove, remedy: "a node that is one of: " + strings.Join(by, ", "),
		fails: func(w *work) (string, error) { return when(!slices.Contains(by, w.node.Occupancy), w.nodeIs()), nil },
	}
}

func when(fails bool, words string) string {
	if fails {
		return words
	}
	return ""
}

// Refusal is the error of an action that a guard has refused.
type Refusal struct {
	Guard       string
	Cause       *lifecycle.Refusal
	SatisfiedBy string
	Legal       []string // actions on the same subject that are legal now
}

func (r *Refusal) Error() string { return r.Cause.Error() }

// Unwrap gives the lifecycle's refusal.
func (r *Refusal) Unwrap() error { return r.Cause }

// ask asks the guards in turn; the first that doesn't hold refuses. With ofRequest false, those that look
// at the request alone are left out.
func (a Action) ask(w *work, ofRequest bool) (*Refusal, error) {
	for _, g := range a.Guards {
		if g.OfRequest && !ofRequest {
			continue
		}
		words, err := g.fails(w)
		if err != nil {
			return nil, err
		}
		if words != "" {
			return &Refusal{Guard: g.Name, SatisfiedBy: g.SatisfiedBy(), Cause: lifecycle.Refuse(g.Refusal, a.Name+" of "+a.Of.One()+" "+w.asked.ID, words)}, nil
		}
	}
	return nil, nil
}
