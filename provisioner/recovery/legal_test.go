package recovery_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
)

// Whatever state everything is in: what is listed as legal goes through and makes no move but those of its
// line, and what isn't is refused and changes nothing.
func TestWhatIsLegalGoesThrough(t *testing.T) {
	b := newBench(t, t.TempDir()+"/p.db")
	n := 0
	for state := range lives {
		for _, a := range recovery.Actions() {
			variants := []string{semconv.Pending, lifecycle.Fenced} // of the message for its own actions, of the node for the others
			if a.Of == recovery.Messages {
				variants = []string{semconv.Pending, semconv.Failed, semconv.Dead, semconv.Published}
			}
			for _, v := range variants {
				n++
				id := fmt.Sprintf("a-%d", n)
				node, message := b.live(id, state)
				if v == lifecycle.Fenced {
					b.fence(node)
				} else {
					b.message(message, v)
				}
				b.legalOrRefused(a, id, node, message)
			}
		}
	}
}

func (b *bench) legalOrRefused(a recovery.Action, allocation, node, message string) {
	b.t.Helper()
	id := map[recovery.Kind]string{recovery.Allocations: allocation, recovery.Nodes: node, recovery.Messages: message}[a.Of]
	before := strings.Split(b.state(allocation, node, message), "/")
	dry := asks(id)
	dry.DryRun = true
	_, _, tried := b.do(a.Of, a.Name, dry)
	answer, _, err := b.do(a.Of, a.Name, asks(id))
	if (tried == nil) != (err == nil) {
		b.t.Fatalf("%s of %v: dry run says %v, but %v", a.Name, before, tried, err)
	}
	after := strings.Split(b.state(allocation, node, message), "/")
	var refusal *recovery.Refusal
	if err != nil {
		if !errors.As(err, &refusal) || refusal.Guard == "lifecycle" || refusal.Cause.Reason.Remedy() == "" || slices.Contains(refusal.Legal, a.Name) {
			b.t.Fatalf("%s of %v: %v, %+v", a.Name, before, err, refusal)
		}
		if fmt.Sprint(before) != fmt.Sprint(after) {
			b.t.Fatalf("%s was refused, and yet %v became %v", a.Name, before, after)
		}
		return
	}
	for i, of := range []recovery.Kind{recovery.Allocations, recovery.Nodes, recovery.Messages} {
		if before[i] == after[i] {
			continue
		}
		if !reachable(a.Moves, of, before[i], after[i]) {
			b.t.Fatalf("%s moved %s from %s to %s, which is not in its line", a.Name, of, before[i], after[i])
		}
		if !strings.Contains(fmt.Sprint(answer.Changes), before[i]+" "+after[i]) {
			b.t.Fatalf("%s does not say that %s went from %s to %s: %v", a.Name, of, before[i], after[i], answer.Changes)
		}
	}
}

// reachable reports whether the moves lead from one state to another.
func reachable(moves []recovery.Move, of recovery.Kind, from, to string) bool {
	return slices.ContainsFunc(moves, func(m recovery.Move) bool {
		return m.Of == of && m.From == from && (m.To == to || m.To != from && reachable(moves, of, m.To, to))
	})
}
