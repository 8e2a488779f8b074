package score

import (
	"slices"
	"strings"
	"time"
)

// TaskAction is what somebody tells of a task: a move of it, by the provisioner, or a request about it, by the agent that
// has claimed it.
type TaskAction struct {
	Claim      string    // under which
	Move       string    // what the task came to; "" for a request
	LeaseUntil time.Time // of a move: until when the claim is good
	At, End    time.Time // a request was sent, and over; of a move, when it was
	Failed     bool      // a request that was not answered; that a claim no longer counts is an answer
}

// lateness is how a claim was lost that nobody took away: its renewal was sent too late, by the agent's own record, or
// was under way as the lease ended, and answered in the end. Its layers are those in which such a delay can lie.
type lateness []string

var (
	sentLate = lateness{"node_agent", "node"}
	underWay = lateness{"node_agent", "node", "network", "ingress", "api", "db", "workflow"}
)

// belated says whether claims of an allocation were lost, and each of them by lateness alone: what the lab is too slow
// for, and no fault. Whoever sent nothing any more, was refused, or got no answer may be at fault.
func belated(actions []TaskAction) (layers lateness, ok bool) {
	actions = slices.Clone(actions)
	slices.SortStableFunc(actions, func(a, b TaskAction) int { return a.At.Compare(b.At) })
	for n, d := range actions {
		if d.Move != "lost" {
			continue
		}
		why := lateIn(actions, n)
		if why == nil {
			return nil, false
		}
		if len(why) > len(layers) {
			layers = why
		}
	}
	return layers, len(layers) > 0
}

// lateIn is the lateness by which the n-th action, a loss, came about; nil where the records prove none. What decides is
// the first request since the last grant that was not over before the lease was; one that was given up before, as where
// the work came to its end and its result was sent instead, says nothing.
func lateIn(actions []TaskAction, n int) lateness {
	claim, until, granted := actions[n].Claim, time.Time{}, -1
	for i, d := range actions[:n] {
		if d.Claim == claim && (d.Move == "dispatched" || d.Move == "running") {
			granted, until = i, d.LeaseUntil
		}
	}
	if claim == "" || until.IsZero() {
		return nil
	}
	for _, d := range actions[granted+1:] {
		switch {
		case d.Claim != claim || d.Move != "":
		case d.Failed:
			return nil
		case d.End.Before(until):
		case d.At.Before(until):
			return underWay
		default:
			return sentLate
		}
	}
	return nil
}

// sensible says whether nobody is blamed who cannot have been late.
func (l lateness) sensible(said []Ruling) bool {
	return !slices.ContainsFunc(said, func(r Ruling) bool {
		return slices.ContainsFunc(r.Blames, func(b string) bool {
			layer, _, _ := strings.Cut(b, "/")
			return !slices.Contains(l, layer)
		})
	})
}
