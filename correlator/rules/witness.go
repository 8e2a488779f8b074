package rules

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// directness is how close the witness of a signature stood. Certificates and the network have no voice
// of their own: whoever shook hands, or dialled, saw it.
func (s *signature) directness(e *correlator.Event) correlator.Directness {
	switch {
	case e.Layer == s.Layer || e.Party() == s.Layer:
		return correlator.Itself
	case s.Layer == semconv.LayerCert || s.Layer == semconv.LayerNetwork || s.Layer == semconv.LayerDeploy:
		return correlator.Itself
	case s.Layer == semconv.LayerNode && e.Layer == semconv.LayerNodeAgent:
		return correlator.Itself // the agent is the node's own witness
	}
	return correlator.Caller
}

// witness is the record to quote: the first line of a log, which says more than the name of a span.
func witness(records []*correlator.Event) *correlator.Event {
	best := records[0]
	for _, e := range records {
		switch {
		case e.Signal != record.Log || e.Body == "" || stackFrame.MatchString(e.Text):
		case best.Signal != record.Log || best.Body == "" || stackFrame.MatchString(best.Text):
			best = e
		case strings.HasPrefix(e.Text, "caused by: ") && e.Service == best.Service && e.At-best.At <= moment:
			best = e // of one exception in several records the deepest cause
		}
	}
	return best
}

// stackFrame finds a record that is the middle of an exception which its emitter wrote line by line (Java, Python, Go, Node.js, .NET).
var stackFrame = regexp.MustCompile(`^\s*(?:at [\w$.<>/ ]+ ?\((?:[^)]*:\d+|native method|unknown source|<anonymous>)|at [\w$.<>/]+\.[\w$]+\(\)|file ".*", line \d+|\.\.\. \d+ more|traceback \(most recent call last\):?$|goroutine \d+ \[|raise [a-z]\w*\()`)

// sharedServices are the layers that are one service for everybody: what such a service says of itself, it says
// under nobody's identifiers.
var sharedServices = []string{semconv.LayerDB, semconv.LayerOutbox}

// ownWord adds what the owner itself says, in the same minutes and words, where so far only its callers were
// heard (docs/domain.md §4.10, rule 1).
func (s *signature) ownWord(c *correlator.Case, t *correlator.Trouble, ev *correlator.Evidence) {
	if ev.Directness == correlator.Itself || !slices.Contains(sharedServices, s.Layer) {
		return
	}
	var own []*correlator.Event
	for _, e := range c.UnattributedBetween(ev.Records[0].At-recently, t.At+1) {
		if e.Layer == s.Layer && e.Node == "" && e.Failed() && named(e) == s {
			own = append(own, e)
		}
	}
	if len(own) == 0 {
		return
	}
	ev.Directness = correlator.Itself
	ev.Records = append(ev.Records, own[:min(len(own), ownWords)]...)
	slices.SortStableFunc(ev.Records, func(a, b *correlator.Event) int { return cmp.Compare(a.At, b.At) })
}

// ownWords bounds how much of the owner's own log is cited.
const ownWords = 5

// madeGood says whether a step that is merely late cannot be late for this failure: the very service that failed
// did the same allocation's work afterwards, and in time.
func madeGood(c *correlator.Case, t *correlator.Trouble, failed *correlator.Event) bool {
	if t.Kind != correlator.OverdueTrouble || failed.Node != "" {
		return false
	}
	good, until := false, t.At
	if t.Cleared != 0 {
		until = t.Cleared - skewOfClocks // what it did right before is how the step came to its end
	}
	c.EachIn(failed.Layer, failed.At, until, func(e *correlator.Event) {
		good = good || e.At > failed.At && e.Service == failed.Service && e.Allocation != "" && e.HTTP.Status >= 200 && e.HTTP.Status < 300
	})
	return good
}

// tied adds, to what names no node, the records of the same traces that do: without them nobody would know whose
// requests those were.
func tied(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) []*correlator.Event {
	if t.Node == "" {
		return records
	}
	loose := map[string]bool{}
	for _, e := range records {
		if e.TraceID != "" && !correlator.Names(e, t.Node) {
			loose[e.TraceID] = true
		}
	}
	if len(loose) == 0 {
		return records
	}
	out := slices.Clone(records)
	for _, e := range c.Failures(t) {
		if loose[e.TraceID] && correlator.Names(e, t.Node) && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *correlator.Event) int { return cmp.Compare(a.At, b.At) })
	return out
}

// ofOneNode says whether only an agent tells of lost packets, and nothing is heard of the node under it nor of
// the network: its own card may have failed as well as the fabric.
func ofOneNode(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	if t.Node == "" || slices.ContainsFunc(records, func(e *correlator.Event) bool { return e.Layer != semconv.LayerNodeAgent }) {
		return false
	}
	return c.LastOf(semconv.LayerNode, t.Node, t.From-recently, c.Now) == nil &&
		c.AliveBetween(semconv.LayerNetwork, t.From-recently, t.At+recently) == nil
}

// ofMachineAlone says whether all that is told of lost packets are logins at one machine that nobody answered, and nothing is heard of the network: a machine
// that has not come up answers as little.
func ofMachineAlone(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	return !slices.ContainsFunc(records, func(e *correlator.Event) bool { return !holds(e.Text, logins) }) &&
		c.AliveBetween(semconv.LayerNetwork, t.From-recently, t.At+recently) == nil
}

// logins are the words of who dials a machine to log in at it (Ansible, OpenSSH, WinRM).
var logins = []string{"via ssh", "port 22:", "port 22 ", ":22:", "winrm", ":5985", ":5986"}

// ofOneSide says whether one service alone tells of dials that nobody answered, and nothing is heard of whom it dialled nor of the
// network: packets that are lost, a peer that is gone and one that is too busy look alike.
func ofOneSide(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	for _, e := range records {
		if e.Service != records[0].Service || e.Party() == semconv.LayerNetwork {
			return false
		}
	}
	dialled := t.Owes
	for _, e := range records {
		if l := callee(c, e); l != "" {
			dialled = l
		}
	}
	return dialled != "" && c.AliveBetween(dialled, records[0].At, c.Now) == nil && c.AliveBetween(semconv.LayerNetwork, t.From-recently, t.At+recently) == nil
}

// ofOwnMachine says whether a client alone tells that he does not get a session on a machine, and neither the machine nor the network is heard of at that
// time: it may be off as well as out of reach.
func ofOwnMachine(c *correlator.Case, records []*correlator.Event) bool {
	if slices.ContainsFunc(records, func(e *correlator.Event) bool {
		return e.Layer != semconv.LayerClient || !holds(e.Text, []string{"ssh: connect to host"})
	}) {
		return false
	}
	from, to := records[0].At-int64(2*time.Minute), records[len(records)-1].At+int64(2*time.Minute)
	return !slices.ContainsFunc([]string{semconv.LayerNode, semconv.LayerNodeAgent, semconv.LayerNetwork}, func(layer string) bool { return c.AliveBetween(layer, from, to) != nil })
}

// ofControllers are the words of a provider that deals with a machine's power by its controller.
var ofControllers = []string{"power action", "power state", "bmc", "ipmi", "redfish"}

// workedSince says whether whoever tells of dials to a machine that nobody answered went on to work with that machine before the trouble began, or
// tells of its controller alone.
func workedSince(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	last := records[len(records)-1]
	if last.Layer == semconv.LayerProvider && last.Node != "" && !slices.ContainsFunc(records, func(e *correlator.Event) bool { return e.Node != last.Node || !holds(e.Text, ofControllers) }) {
		return true // one machine's controller did not answer: what others say of packets is another matter
	}
	if last.Node == "" || last.At >= t.From || slices.ContainsFunc(records, func(e *correlator.Event) bool { return e.Service != last.Service || e.Node != last.Node }) {
		return false
	}
	over := false
	c.EachIn(last.Layer, last.At+1, t.From, func(e *correlator.Event) {
		over = over || e.Service == last.Service && e.Node == last.Node && !e.IsEvent() && !e.Failed()
	})
	return over
}
