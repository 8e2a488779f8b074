package correlator

// Standing is how things stand with one allocation, without its timeline: what a judgement leaves
// behind, and all that questions across allocations are answered from.
type Standing struct {
	ID       string  `json:"allocation_id"`
	State    *string `json:"state"`
	Since    *Time   `json:"since"`
	LastSeen Time    `json:"last_seen"` // the newest of its own records
	Verdict  Verdict `json:"verdict"`
	// Hits are the verdict's faults by what other allocations may share with them.
	Hits []Hit `json:"hits"`
	// Stuck says what is owed for longer than it should be, nil where nothing is.
	Stuck *Stuck `json:"stuck"`
	// Orphans are its resources that outlived it.
	Orphans []Orphan `json:"orphans"`
}

// Standing judges a case alone, leaving its timeline undrawn.
func (c *Case) Standing(rules []Rule) Standing { return c.standing(Judge(c, rules)) }

func (c *Case) standing(v Verdict) Standing {
	s := Standing{ID: c.ID, Verdict: v, Hits: []Hit{}, Stuck: c.stuck(), Orphans: append([]Orphan{}, c.Orphans()...)}
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
	byRef := c.eventsByRef(s.Verdict.Faults)
	for _, f := range s.Verdict.Faults {
		s.Hits = append(s.Hits, c.hit(f, byRef, s.Verdict.Outcome == Contested))
	}
	return s
}

// Standings are those of every allocation of a gathering, in order of their ids.
func (g *Gathering) Standings(rules []Rule) []Standing {
	return standings(g.Cases(), rules)
}

// standings judges cases, each in the company of the others.
func standings(cases []*Case, rules []Rule) []Standing {
	out, together := make([]Standing, len(cases)), NewTogether()
	for i, c := range cases {
		out[i] = c.Standing(rules)
		together.Add(&out[i])
	}
	for i, c := range cases {
		together.Weigh(&out[i], c.Profile)
	}
	return out
}

// AtRest says whether nothing more is going to happen to the allocation by itself.
func (s *Standing) AtRest() bool {
	return s.State != nil && (terminal(*s.State) || *s.State == "failed")
}

// state is the allocation's state, "" where none was seen.
func (s *Standing) state() string {
	if s.State == nil {
		return ""
	}
	return *s.State
}

// eventsByRef finds the records that faults cite.
func (c *Case) eventsByRef(faults []Fault) map[string]*Event {
	out := map[string]*Event{}
	for _, f := range faults {
		for _, list := range [][]string{f.Evidence, f.Symptoms} {
			for _, ref := range list {
				out[ref] = nil
			}
		}
	}
	for _, list := range [][]*Event{c.borrowed, c.Context, c.Events} {
		for _, e := range list {
			if _, cited := out[e.Ref]; cited {
				out[e.Ref] = e
			}
		}
	}
	return out
}
