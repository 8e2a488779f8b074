package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// Overview is safe for concurrent use. Follow fills it.
type Overview struct {
	from Source
	cfg  Config
	now  func() time.Time
	wake chan struct{}
	seal seal
	// begun is closed when the first reading is done: until then nobody knows what a reader was told before.
	begun chan struct{}

	mu       sync.RWMutex
	ready    bool // the first reading is done
	whole    bool // every allocation of the store is here
	rows     map[string]*row
	byLast   []*row // the most recently heard of first
	byID     []*row
	telling  map[string]*row // those with something to tell
	examined int             // allocations that were ever assessed
	judged   int64           // up to which time of arrival everything was judged
	position position        // behind all that was said
	streams  map[*reader]bool
	watcher  Watcher // nil: nobody counts

	looked      time.Time // when the store was looked at last with success, else when this began
	clock       int64     // the store's clock then
	newest      int64     // when the newest record of any allocation was taken, in Unix seconds
	behindSince int64     // since when there is something to judge, by the store's clock; 0 where there is nothing
}

// Config of an overview.
type Config struct {
	Interval    time.Duration `yaml:"interval"`    // how often the store is asked what is new
	Allocations int           `yaml:"allocations"` // kept in memory, at most; lists of more are asked of the store
	Secret      string        `yaml:"-"`           // seals cursors; the same for all replicas
}

// DefaultConfig asks once a second and keeps 200,000 allocations, about 150 MB. What this process says itself is told of at once.
func DefaultConfig() Config { return Config{Interval: time.Second, Allocations: 200_000} }

// Validate names the key that is wrong.
func (c Config) Validate() error {
	switch {
	case c.Interval < 10*time.Millisecond:
		return fmt.Errorf("overview.interval: %s is shorter than 10ms", c.Interval)
	case c.Allocations < 1000:
		return fmt.Errorf("overview.allocations: %d is less than 1000", c.Allocations)
	}
	return nil
}

// row is one allocation.
type row struct {
	head     query.Head
	tenant   query.Label // the word that was said first
	provider []string
	said     *query.Said // nil where it was not judged
	whole    bool        // nothing was left out of said's verdict
	line     query.Listed
	// releasing is when its release began; 0 where that was not seen.
	releasing correlator.Time
}

// telling says whether there is something to tell.
func (r *row) telling() bool { return r.said != nil && !r.said.Quiet }

// New gives an empty overview.
func New(from Source, cfg Config) *Overview {
	return &Overview{
		from: from, cfg: cfg, now: time.Now, looked: time.Now(), wake: make(chan struct{}, 1), begun: make(chan struct{}), seal: newSeal(cfg.Secret),
		rows: map[string]*row{}, telling: map[string]*row{}, streams: map[*reader]bool{},
	}
}

var _ query.Overview = (*Overview)(nil)

// compose makes a row's line anew.
func (r *row) compose(now int64) {
	r.line = query.Listed{
		ID: r.head.ID, State: r.head.State, Since: r.head.Since, LastSeen: r.head.Last, Tenant: r.tenant.Value, Provider: strings.Join(r.provider, ","),
	}
	if r.said != nil {
		r.line.Say(&r.said.Assessment, now)
	}
}

// List implements query.Overview.
func (o *Overview) List(q query.ListQuery) (found []query.Listed, next string, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if !o.ready {
		return nil, "", false
	}
	found, now := []query.Listed{}, o.now().UnixNano()
	for _, r := range o.ranged(&q) {
		if !q.Matches(&r.line, r.head.First) {
			continue
		}
		if q.Limit > 0 && len(found) == q.Limit {
			if q.Order == query.ByID {
				next = found[len(found)-1].ID
			}
			return found, next, true
		}
		one := r.line
		if r.said != nil && r.said.Assessment.Stuck != nil {
			one.Say(&r.said.Assessment, now) // it is overdue for longer now
		}
		found = append(found, one)
	}
	return found, "", o.whole || len(o.byLast) >= query.MostListed // the store would look at fewer
}

// ranged gives the rows of a question in its order, those alone that it can concern.
func (o *Overview) ranged(q *query.ListQuery) []*row {
	if q.Order != query.ByID {
		return o.byLast
	}
	at, _ := slices.BinarySearchFunc(o.byID, q.After, func(r *row, id string) int { return strings.Compare(r.head.ID, id) })
	return o.byID[at:]
}

// Assessments implements query.Overview.
func (o *Overview) Assessments() (list []correlator.Assessment, examined int, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if !o.ready || o.examined == 0 && o.judged == 0 { // nobody judges: whoever asks judges by itself
		return nil, 0, false
	}
	list = make([]correlator.Assessment, 0, len(o.telling))
	for _, r := range o.telling {
		list = append(list, r.said.Assessment)
	}
	slices.SortFunc(list, func(a, b correlator.Assessment) int { return cmp.Compare(a.ID, b.ID) })
	return list, o.examined, true
}

// Last implements query.Overview.
func (o *Overview) Last(allocation string) (r correlator.Revision, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	one := o.rows[allocation]
	if one == nil || one.said == nil || !one.whole || one.said.Assessment.Verdict.RulesVersion != correlator.RulesVersion {
		return r, false
	}
	r = one.said.Revision
	r.Assessment.Verdict.AsOf = max(r.Assessment.Verdict.AsOf, correlator.Time(o.judged))
	return r, o.holds(one)
}

// keepingUp is how far judging may lie behind what arrives, and still say what holds.
const keepingUp = 5 * time.Second

// Holds implements query.Overview.
func (o *Overview) Holds(allocation string) (until correlator.Time, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	r := o.rows[allocation]
	return correlator.Time(o.judged), r != nil && o.holds(r)
}

func (o *Overview) holds(r *row) bool {
	return o.judged != 0 && (r.head.Taken < o.judged/int64(time.Second) || o.now().UnixNano()-o.judged < int64(keepingUp))
}

// Tenant implements query.Overview.
func (o *Overview) Tenant(allocation string) (tenant string, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if r := o.rows[allocation]; r != nil {
		return r.tenant.Value, r.tenant.Value != "" // what was heard of just now may have labels that were not read yet
	}
	return "", o.ready && o.whole
}

// Head implements query.Overview.
func (o *Overview) Head(allocation string) (h query.Head, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if r := o.rows[allocation]; r != nil {
		return r.head, true
	}
	return h, false
}

// settled is for how long what arrives may stand under the second of what arrived before.
const settled = 3 * time.Second

// Tag implements query.Overview.
func (o *Overview) Tag(allocation string) (tag string, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	r := o.rows[allocation]
	if r == nil || r.said == nil || !o.holds(r) || o.now().UnixNano()-r.head.Taken*int64(time.Second) < int64(settled) {
		return "", false
	}
	return fmt.Sprintf("%x-%x-%x-%s", r.head.Taken, int64(r.head.Last), int64(r.said.JudgedAt), correlator.RulesVersion), true
}
