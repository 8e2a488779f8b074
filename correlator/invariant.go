package correlator

import (
	"slices"
	"strconv"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Invariant is something that must hold on every timeline (docs/domain.md §4.9). That it does not is a finding:
// shown, never a fault by itself. An invariant is broken only by what was seen, never by what was not.
type Invariant struct {
	ID    string // I1 … I15, as the domain numbers them
	Kind  string // of the finding
	Says  string // what must hold
	check func(c *Case) []Finding
}

// Invariants lists what is checked. I4 is the finding "overlap" (one occupant a node), I7 the orphans, and
// I14 says what is no breach: a node that is ready while its EDA job is Unknown.
func Invariants() []Invariant {
	return []Invariant{
		{"I1", "active_without_proof", "no allocation is active without a proof that it is ready", activeWithoutProof},
		{"I2", "released_while_occupied", "a released allocation occupies no node", releasedWhileOccupied},
		{"I3", "release_failed_unfenced", "the node of a release that failed is in cleanup or fenced", releaseFailedUnfenced},
		{"I5", "deprovision_before_end", "no clean-up job starts before the provision job's end", deprovisionBeforeEnd},
		{"I6", "double_launch", "at most one job lives for one operation and configuration", doubleLaunch},
		{"I8", "stale_fence", "a result that is applied has the current fence", staleFence},
		{"I9", "outbox_end", "the end of an allocation is published once, in time", outboxEnd},
		{"I10", "result_of_superseded_instance", "a claim of a node instance that was superseded gets no result", supersededResult},
		{"I11", "cleanup_without_proof", "a forced clean-up says what proves that nothing runs", cleanupWithoutProof},
		{"I12", "impossible_view", "a view shows a state that the allocation can have had", impossibleView},
		{"I13", "cancel_not_carried_out", "a job whose end was asked for ends in time", cancelNotCarriedOut},
		{"I15", "billed_after_release_failed", "nothing is billed once a release has failed", billedAfterReleaseFailed},
		{"", "stale_repeat", "a job that has ended is not told of as running", staleRepeat},
		{"", "leftover", "what is to be made is not there already", leftover},
		{"", "illegal_occupancy", "a node is not given away before it is clean", illegalOccupancy},
	}
}

// broken lists the invariants that do not hold.
func broken(c *Case) []Finding {
	var out []Finding
	for _, i := range Invariants() {
		out = append(out, i.check(c)...)
	}
	return out
}

func found(kind, summary string, events ...*Event) []Finding {
	return []Finding{{Kind: kind, Summary: summary, Refs: refs(distinct(events...))}}
}

// maxPairs bounds how far apart two of a long list are compared.
const maxPairs = 100

// outboxEnd looks at platforms whose outbox names the states that it publishes.
func outboxEnd(c *Case) []Finding {
	state, ends := c.publishedEnds()
	if len(ends) > 1 {
		return found("outbox_end", "the end ("+state+") was published as "+strconv.Itoa(len(ends))+" records", sortedEvents(ends)...)
	}
	if deadline, unpublished := c.unpublishedEnd(); unpublished && c.AliveBetween(semconv.LayerOutbox, deadline, c.Now) != nil {
		return found("outbox_end", "the end ("+state+") was never published, and the outbox is alive", c.entered())
	}
	return nil
}

// publishedEnds are the outbox records that tell of the state in which the allocation ended, by their ids; nil where it did not end, or
// where the outbox of this platform does not name states.
func (c *Case) publishedEnds() (state string, ends map[string]*Event) {
	state, _, ok := c.Lifecycle.State()
	if !ok || state != semconv.Released && state != semconv.Canceled && state != semconv.Failed {
		return state, nil
	}
	names := false
	for _, o := range c.Lifecycle.Outbox {
		subject := strings.ToLower(o.Operation)
		names = names || strings.Contains(subject, semconv.Active) || strings.Contains(subject, semconv.Requested)
		if strings.HasSuffix(subject, "."+state) {
			if ends == nil {
				ends = map[string]*Event{}
			}
			ends[o.ID] = o.Last().Event
		}
	}
	if names && ends == nil {
		ends = map[string]*Event{}
	}
	return state, ends
}

// unpublishedEnd is until when the end should have been published, where it was not.
func (c *Case) unpublishedEnd() (deadline int64, unpublished bool) {
	_, ends := c.publishedEnds()
	if ends == nil || len(ends) > 0 || c.Profile.Budgets().Outbox <= 0 {
		return 0, false
	}
	_, since, _ := c.Lifecycle.State()
	deadline = since + int64(c.Profile.Budgets().Outbox)
	return deadline, c.Now > deadline
}

func billedAfterReleaseFailed(c *Case) []Finding {
	var out []Finding
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventAudit}).own {
		state, since := c.Lifecycle.stateAt(e.At)
		action := strings.ToLower(e.Attr(semconv.Action))
		bills := slices.ContainsFunc([]string{"charge", "invoice", "meter", "bill"}, func(w string) bool { return strings.Contains(action, w) })
		stops := strings.Contains(action, "stop") || strings.Contains(action, "close") || strings.Contains(action, "end")
		if e.Attr(semconv.ActorType) == "billing" && bills && !stops && state == semconv.ReleaseFailed && e.At > since+skew {
			out = append(out, found("billed_after_release_failed", "billed ("+e.Attr(semconv.Action)+") although its release has failed", e)...)
		}
	}
	return out
}
