package incident

import (
	"cmp"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// enough is how many allocations must have got through, one after the other, before a cause counts as gone: where every other call fails,
// one that succeeds proves nothing. Load balancers take back a server after two or three good checks (HAProxy's `rise` is 2, Envoy's
// healthy_threshold and Kubernetes' successThreshold are the operator's).
const enough = 3

// mostPassages bounds what is remembered of one kind of call; half of it, the newest, is kept when it is full.
const mostPassages = 512

// mostCalls bounds the kinds of calls that are remembered.
const mostCalls = 10_000

// Passages knows which calls failed and which got through, of a set of allocations. A cause that many share is gone when calls like those
// that failed get through for others, and did not while they failed: it is not the victim who must call again to prove that.
type Passages struct {
	calls  map[string]*passages
	failed map[string][]string // the calls of an allocation that failed
}

// passages are those of one kind of call.
type passages struct {
	through map[string]int64    // allocation: when it first got through
	failed  map[string]stretch  // allocation: when it failed
	waiting map[string]struct{} // allocations whose trouble may be over when others get through
	last    int64               // the newest failure
	since   int                 // how many got through after it
}

// stretch is a stretch of time, both ends included.
type stretch struct{ first, last int64 }

// NewPassages is empty.
func NewPassages() *Passages { return &Passages{map[string]*passages{}, map[string][]string{}} }

// Add takes what an assessment tells of calls, and gives the allocations whose cause that may prove gone.
func (p *Passages) Add(a *correlator.Assessment) (concerned []string) {
	for _, one := range a.Passages {
		c := p.of(one.Call)
		if c == nil {
			continue
		}
		if _, known := c.through[a.ID]; known {
			continue
		}
		c.through[a.ID] = int64(one.At)
		c.bound()
		if int64(one.At) <= c.last {
			continue
		}
		if c.since++; c.since == enough || correlator.OfOneNode(one.Call) { // fewer prove nothing, and more nothing else
			for id := range c.waiting {
				concerned = append(concerned, id)
			}
		}
	}
	for i := range a.Occurrences {
		o := &a.Occurrences[i]
		for _, f := range o.Failed {
			c := p.of(f.Call)
			if c == nil {
				continue
			}
			if _, known := c.failed[a.ID]; !known {
				p.failed[a.ID] = append(p.failed[a.ID], f.Call)
			}
			c.failed[a.ID] = stretch{int64(f.First), int64(f.Last)}
			if int64(f.Last) > c.last {
				c.last, c.since = int64(f.Last), 0
			}
			if o.ClearedAt == nil && shared(o) {
				c.waiting[a.ID] = struct{}{}
			} else {
				delete(c.waiting, a.ID)
			}
		}
	}
	slices.Sort(concerned)
	return slices.Compact(concerned)
}

// Drop forgets the failures of an allocation. That it got through stays true.
func (p *Passages) Drop(allocation string) {
	for _, call := range p.failed[allocation] {
		delete(p.calls[call].failed, allocation)
		delete(p.calls[call].waiting, allocation)
	}
	delete(p.failed, allocation)
}

// Gone gives the assessment with the times at which causes went that others prove gone.
func (p *Passages) Gone(a correlator.Assessment) correlator.Assessment {
	for i := range a.Occurrences {
		o := &a.Occurrences[i]
		if o.ClearedAt != nil || !shared(o) {
			continue
		}
		if at := p.gone(a.ID, o); at != 0 {
			a.Occurrences = slices.Clone(a.Occurrences)
			gone := correlator.Time(at)
			a.Occurrences[i].GoneAt = &gone
		}
	}
	return a
}

// gone is when others got through at each of the calls that failed; 0 where they did not, or did so all the time.
func (p *Passages) gone(allocation string, o *correlator.FaultOccurrence) int64 {
	at := int64(0)
	for _, f := range o.Failed {
		c := p.calls[f.Call]
		if c == nil {
			return 0
		}
		wanted := enough
		if correlator.OfOneNode(f.Call) {
			wanted = 1 // allocations have a node one after the other: the next one tells
		}
		one := c.gone(allocation, stretch{int64(f.First), int64(f.Last)}, wanted)
		if one == 0 {
			return 0
		}
		at = max(at, one)
	}
	return at
}

// mark is that an allocation failed at a call, or got through.
type mark struct {
	at      int64
	through bool
}

// gone is the first of enough passages in a row after an allocation failed; 0 where there are none. Where others got through between
// failures, only some calls fail, and ten times as many in a row are wanted.
func (c *passages) gone(allocation string, f stretch, wanted int) int64 {
	var marks []mark
	for id, at := range c.through {
		if id != allocation && at >= f.first {
			marks = append(marks, mark{at, true})
		}
	}
	for _, other := range c.failed {
		for _, at := range []int64{other.first, other.last} {
			if at >= f.first {
				marks = append(marks, mark{at, false})
			}
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Or(cmp.Compare(a.at, b.at), falseFirst(a.through, b.through)) })
	row, first, partly := 0, int64(0), 10*wanted
	for _, m := range marks {
		switch {
		case !m.through:
			if row > 0 {
				wanted = partly
			}
			row = 0
		default:
			if row++; row == 1 {
				first = m.at
			}
			if row >= wanted && first > f.last {
				return first
			}
		}
	}
	return 0
}

// shared says whether an occurrence lies with somebody whom others ask as well, whoever they are, in what failed.
func shared(o *correlator.FaultOccurrence) bool {
	if len(o.Failed) == 0 {
		return false
	}
	switch o.Subject.Kind {
	case correlator.SubjectNode:
		return true
	case correlator.SubjectAllocation, correlator.SubjectCertificate:
		return false
	}
	if o.Layer == semconv.LayerAPIAuth {
		return !slices.ContainsFunc(o.Failed, func(f correlator.FailedCall) bool { return !correlator.OfOneSubject(f.Call) })
	}
	return o.Layer != semconv.LayerClient
}

func (p *Passages) of(call string) *passages {
	c := p.calls[call]
	if c == nil && (len(p.calls) < mostCalls/2 || len(p.calls) < mostCalls && !correlator.OfOneSubject(call)) { // subjects are many
		c = &passages{through: map[string]int64{}, failed: map[string]stretch{}, waiting: map[string]struct{}{}}
		p.calls[call] = c
	}
	return c
}

// bound forgets the older half of what got through when it is too much.
func (c *passages) bound() {
	if len(c.through) <= mostPassages {
		return
	}
	times := make([]int64, 0, len(c.through))
	for _, at := range c.through {
		times = append(times, at)
	}
	slices.Sort(times)
	for id, at := range c.through {
		if at < times[len(times)/2] {
			delete(c.through, id)
		}
	}
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
