package score

import (
	"testing"
	"time"
)

// A claim is lost by lateness where the agent's own record says that it renewed too late, or that its renewal was under
// way for too long; never where nobody asked any more, or was turned away.
func TestBelated(t *testing.T) {
	ms := func(n int) time.Time { return on.Add(time.Duration(n) * time.Millisecond) }
	move := func(to string, when, until int) TaskAction {
		return TaskAction{Claim: "cl-1", Move: to, At: ms(when), End: ms(when), LeaseUntil: ms(until)}
	}
	asked := func(from, to int) TaskAction { return TaskAction{Claim: "cl-1", At: ms(from), End: ms(to)} }
	refused := func(from, to int) TaskAction {
		d := asked(from, to)
		d.Failed = true
		return d
	}
	other := asked(2500, 2600)
	other.Claim = "cl-2"
	claimed, lost := move("dispatched", 0, 2000), move("lost", 2100, 2000)
	f := func(name string, layers int, actions ...TaskAction) {
		t.Helper()
		if got, ok := belated(actions); len(got) != layers || ok != (layers > 0) {
			t.Errorf("%s: %v, %t", name, got, ok)
		}
	}
	f("nothing lost", 0, claimed, asked(500, 510))
	f("sent late", len(sentLate), claimed, lost, asked(2300, 2310))
	f("sent late after one in time", len(sentLate), claimed, asked(500, 540), move("running", 520, 2520), move("lost", 2600, 2520), asked(2700, 2710))
	f("told late", len(sentLate), asked(2300, 2310), lost, claimed)
	f("under way", len(underWay), claimed, asked(500, 2400), lost)
	f("turned away", 0, claimed, refused(500, 510), refused(1000, 1010), lost, asked(2300, 2310))
	f("no answer", 0, claimed, refused(500, 10_500), lost)
	f("given up for the result, which was under way", len(underWay), claimed, asked(1500, 1600), asked(1600, 2300), lost)
	f("answered, and not counted", 0, claimed, asked(500, 510), lost)
	f("silent", 0, claimed, lost)
	f("the next claim's", 0, claimed, lost, other)
	f("never claimed", 0, lost, asked(2300, 2310))
	f("late once, silent once", 0, claimed, lost, asked(2300, 2310), move("dispatched", 3000, 5000), move("lost", 5100, 5000))
	f("late twice", len(underWay), claimed, lost, asked(2300, 2310), move("dispatched", 3000, 5000), asked(3500, 5200), move("lost", 5100, 5000))
}

// Whoever was late may be blamed for it, and nobody else.
func TestSensible(t *testing.T) {
	f := func(want bool, l lateness, said ...Ruling) {
		t.Helper()
		if l.sensible(said) != want {
			t.Errorf("%v", said)
		}
	}
	f(true, sentLate, Ruling{Outcome: undetermined}, Ruling{Outcome: none})
	f(true, sentLate, named("node_agent/silent"))
	f(true, underWay, named("api/slow", "node_agent/overdue"))
	f(false, sentLate, named("api/slow"))
	f(false, underWay, named("cert/expired"))
}
