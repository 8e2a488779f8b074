package correlator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Supplement is what a judgement leaves behind beside its verdict: all that the timeline has beyond the rows that were
// stamped with the allocation when they were written. Both together are the answer, and nobody has to find out anew what leads
// to the allocation, nor to read what was searched in vain.
type Supplement struct {
	ID       string   `json:"allocation_id"`
	JudgedAt Time     `json:"judged_at"`
	State    *string  `json:"state"`
	Since    *Time    `json:"since"`
	Verdict  Verdict  `json:"verdict"`
	Placed   []Placed `json:"placed,omitempty"`
	// Entries are lines of the timeline that no row tells: what was owed and did not come.
	Entries []Entry `json:"entries,omitempty"`
}

// Placed is a record that is not found, or not read, as it was stamped.
type Placed struct {
	// Where its row lies: its stamped time, service and key, and what it was stamped with.
	Time     int64  `json:"t"`
	Source   string `json:"s"`
	Key      string `json:"k"`
	Stamped  string `json:"a,omitempty"` // an allocation, "" for nobody
	OnNode   string `json:"n,omitempty"`
	Foreign  bool   `json:"x,omitempty"` // it is not the allocation's, whatever it was stamped with, and is not shown
	At       int64  `json:"p,omitempty"` // its place in time, where that is not its stamped time
	Resolved *Whose `json:"r,omitempty"`
}

// Whose is what a record resolves to.
type Whose struct {
	Allocation   string `json:"a,omitempty"`
	Workflow     string `json:"w,omitempty"`
	Node         string `json:"n,omitempty"`
	NodeInstance string `json:"i,omitempty"`
	Via          string `json:"v,omitempty"`
}

// maxPlaced bounds a supplement: an allocation of which more was not stamped is read from its links, as ever.
const maxPlaced = 2000

// asStamped is what the record was stamped with when it was written, the emitter's own word first.
func (e *Event) asStamped(kind identity.Kind) string {
	if own := e.Keys.First(kind); own != "" {
		return own
	}
	id, _ := e.Stamped.Get(kind.Attribute())
	return id
}

// StampedAllocation is under which allocation the store keeps the record, "" for nobody's.
func (e *Event) StampedAllocation() string { return e.asStamped(identity.Allocation) }

// whoseAsStamped is what the stamp says.
func (e *Event) whoseAsStamped() Whose {
	via, _ := e.Stamped.Get(semconv.IdentityVia)
	if e.Keys.First(identity.Allocation) != "" {
		via = string(identity.Explicit)
	}
	return Whose{e.asStamped(identity.Allocation), e.asStamped(identity.Workflow), e.asStamped(identity.Node), e.asStamped(identity.NodeInstance), via}
}

func (e *Event) whose() Whose {
	return Whose{e.Allocation, e.Workflow, e.Node, e.NodeInstance, string(e.Via)}
}

// placed says how the record differs from its stamp; nil where it does not.
func (e *Event) placed(allocation string) *Placed {
	whose := e.whose()
	if e.StampedAllocation() == allocation && whose == e.whoseAsStamped() && e.At == e.Time {
		return nil
	}
	p := &Placed{Time: e.Time, Source: e.Service, Key: e.Key[:record.KeyDigits], Stamped: e.StampedAllocation(), OnNode: e.asStamped(identity.Node)}
	if e.At != e.Time {
		p.At = e.At
	}
	if whose != e.whoseAsStamped() {
		p.Resolved = &whose
	}
	return p
}

// Supplement gives what a verdict on the case leaves behind. foreign are records that were stamped with the allocation and
// are not its own. ok is false where that is too much to keep.
func (c *Case) Supplement(v Verdict, foreign []*Event) (s Supplement, ok bool) {
	s = Supplement{ID: c.ID, Verdict: v}
	if state, since, known := c.Lifecycle.State(); known {
		at := Time(since)
		s.State, s.Since = &state, &at
	}
	shown, gaps := c.shown(v)
	s.Entries = gaps
	for _, e := range shown {
		if e.derived {
			return s, false // worked out of the rows of several: no row tells it
		}
		if p := e.placed(c.ID); p != nil {
			if s.Placed = append(s.Placed, *p); len(s.Placed) > maxPlaced {
				return s, false
			}
		}
	}
	for _, e := range foreign {
		if e.Allocation != c.ID && !e.derived {
			s.Placed = append(s.Placed, Placed{Time: e.Time, Source: e.Service, Key: e.Key[:record.KeyDigits], Foreign: true})
		}
	}
	slices.SortFunc(s.Placed, func(a, b Placed) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), strings.Compare(a.Source, b.Source), strings.Compare(a.Key, b.Key))
	})
	return s, len(s.Placed) <= maxPlaced
}

// Elsewhere are the records of a timeline that were not stamped with the allocation: a reader fetches them one by one.
func (s *Supplement) Elsewhere() []Placed {
	var out []Placed
	for _, p := range s.Placed {
		if !p.Foreign && p.Stamped != s.ID {
			out = append(out, p)
		}
	}
	return out
}

// Answer puts a kept verdict and the rows of its timeline together: those that were stamped with the allocation, also those that
// came since, and those that lie elsewhere. Copies of one record count once.
func (s *Supplement) Answer(records []*record.Record, p *profile.Profile) Allocation {
	ordered, _ := order(s.events(records, p))
	return Allocation{ID: s.ID, State: s.State, Since: s.Since, Verdict: s.Verdict, Timeline: lay(ordered, s.Entries, s.ID)}
}

// States puts the four states side by side, by the same rows. What was kept says as of when.
func (s *Supplement) States(records []*record.Record, p *profile.Profile) FourStates {
	own := slices.DeleteFunc(s.events(records, p), func(e *Event) bool { return e.Allocation != s.ID })
	return NewCase(s.ID, own, &Env{Profile: p, Now: int64(s.Verdict.AsOf)}).States()
}

// events are the records of the timeline, each resolved as it was when it was judged, else as it was stamped.
func (s *Supplement) events(records []*record.Record, p *profile.Profile) []*Event {
	type place struct {
		time        int64
		source, key string
	}
	otherwise := make(map[place]*Placed, len(s.Placed))
	for i := range s.Placed {
		one := &s.Placed[i]
		otherwise[place{one.Time, one.Source, one.Key}] = one
	}
	byKey := make(map[string]*record.Record, len(records))
	for _, r := range records {
		key := r.Key()
		if before := byKey[key]; before != nil {
			r, _ = record.Merge(before, r)
		}
		byKey[key] = r
	}
	var events []*Event
	for key, r := range byKey {
		e := NewEvent(r, key, p)
		how := otherwise[place{r.Time, r.Service, key[:record.KeyDigits]}]
		if how != nil && how.Foreign {
			continue
		}
		e.stand(p, how)
		events = append(events, e)
	}
	slices.SortFunc(events, CompareEvents)
	return events
}

// stand takes a record for what it was found to be, or was stamped with.
func (e *Event) stand(p *profile.Profile, how *Placed) {
	whose := e.whoseAsStamped()
	at := e.Time
	if how != nil {
		if how.Resolved != nil {
			whose = *how.Resolved
		}
		if how.At != 0 {
			at = how.At
		}
	}
	e.Resolution = identity.Resolution{
		Allocation: whose.Allocation, Workflow: whose.Workflow, Node: whose.Node, NodeInstance: whose.NodeInstance, Via: identity.Via(whose.Via),
	}
	e.read(p)
	e.At = at
}
