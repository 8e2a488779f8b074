package correlator

import "github.com/faultline-io/faultline/internal/profile"

// Assessment is how things stand with one allocation, without its timeline: what a judgement leaves
// behind, and all that questions across allocations are answered from.
type Assessment struct {
	ID       string  `json:"allocation_id"`
	State    *string `json:"state"`
	Since    *Time   `json:"since"`
	LastSeen Time    `json:"last_seen"` // the newest of its own records
	Verdict  Verdict `json:"verdict"`
	// Hits are the verdict's faults by what other allocations may share with them.
	Occurrences []FaultOccurrence `json:"occurrences"`
	// Stuck says what is owed for longer than it should be, nil where nothing is.
	Stuck *Stuck `json:"stuck"`
	// Orphans are its resources that outlived it.
	Orphans []Orphan `json:"orphans"`
	// Passages are its calls that got through. They are told once, to those who judge others, and not kept.
	Passages []Passage `json:"-"`
}

// NewAssessment is what a verdict on a case leaves behind.
func NewAssessment(c *Case, v Verdict) Assessment {
	s := Assessment{ID: c.ID, Verdict: v, Occurrences: []FaultOccurrence{}, Stuck: c.stuck(), Orphans: append([]Orphan{}, c.Orphans()...), Passages: c.passages()}
	if state, since, ok := c.Lifecycle.State(); ok {
		at := Time(since)
		s.State, s.Since = &state, &at
	}
	for _, e := range c.Events {
		s.LastSeen = max(s.LastSeen, Time(e.At))
	}
	if len(s.Verdict.Faults) == 0 {
		return s
	}
	byRef := c.Cited(s.Verdict.Faults)
	for _, f := range s.Verdict.Faults {
		s.Occurrences = append(s.Occurrences, c.occurrence(f, byRef, s.Verdict.Outcome == Contested))
	}
	return s
}

// AtRest says whether nothing more is going to happen to the allocation by itself.
func (s *Assessment) AtRest() bool {
	return s.State != nil && (terminal(*s.State) || *s.State == "failed")
}

// state is the allocation's state, "" where none was seen.
func (s *Assessment) state() string {
	if s.State == nil {
		return ""
	}
	return *s.State
}

// Cited finds the records that faults cite.
func (c *Case) Cited(faults []Fault) map[string]*Event {
	out := map[string]*Event{}
	for _, f := range faults {
		for _, list := range [][]string{f.Evidence, f.Symptoms} {
			for _, ref := range list {
				out[ref] = nil
			}
		}
	}
	for _, list := range [][]*Event{c.borrowed, c.Unattributed, c.Events} {
		for _, e := range list {
			if _, cited := out[e.Ref]; cited {
				out[e.Ref] = e
			}
		}
	}
	return out
}

// Stuck is a step that is owed for longer than it should be, and by whom.
type Stuck struct {
	What     string        `json:"what"`       // for people: "task t-3 (wipe) is queued and not claimed"
	Owes     string        `json:"owes"`       // the layer that owes the next move, "" where nobody can tell
	Owner    profile.Owner `json:"owner"`      // of that layer
	Since    Time          `json:"owed_since"` // when the step began
	Deadline Time          `json:"deadline"`   // when it should have been done
	// SeenAt is the newest sign of life of that layer after the deadline; null where there is none, and
	// then nobody can tell whether it is late or silent.
	SeenAt   *Time    `json:"seen_at"`
	Evidence []string `json:"evidence"`
}

// stuck is the deepest step that is overdue, nil where none is.
func (c *Case) stuck() *Stuck {
	late := overdueTroubles(c)
	if len(late) == 0 {
		return nil
	}
	t := late[0]
	s := &Stuck{What: t.What, Owes: t.Owes, Owner: c.Profile.Owners[t.Owes], Since: Time(t.From), Deadline: Time(t.At), Evidence: refs(t.Cites)}
	if t.Owes == "" {
		return s
	}
	if e := c.AliveBetween(t.Owes, t.At+1, c.Now); e != nil {
		at := Time(e.At)
		s.SeenAt = &at
	}
	return s
}

// Notable says whether there is something to tell: a verdict other than none, a step that is overdue, drift, or an orphan.
func (s *Assessment) Notable() bool {
	return s.Verdict.Outcome != None || s.Stuck != nil || len(s.Verdict.Drift)+len(s.Orphans) > 0
}
