package overview

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// What an insert under way may hide: it is visible when it is done, and may name a time before that.
const (
	underWay  = 5 * time.Second  // what is read again each time
	longest   = 60 * time.Second // an insert takes no longer
	readAgain = 30 * time.Second // how often as much is read again
	heardOf   = 30 * time.Second // who said lately how far it has judged
)

// most is how many revisions are read at once; a store that was away has said more.
const most = 20_000

// follower is where following stands.
type follower struct {
	since  int64         // the store's clock at the last reading of where allocations stand
	again  time.Time     // when as much was read as an insert may have hidden
	asked  time.Time     // when the store's clock was asked, by ours
	ahead  time.Duration // of our clock
	seen   map[key]int64 // what was taken lately, and when it was said
	failed bool
}

// key names a revision.
type key struct {
	allocation string
	judgedAt   int64
}

// Follow keeps the overview up to date until ctx ends. A store that is away is waited for.
func (o *Overview) Follow(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(o.cfg.Interval)
	defer tick.Stop()
	f := &follower{seen: map[key]int64{}}
	for {
		err := o.look(ctx, f)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !f.failed:
			log.Warn("the overview waits for the store", "error", err)
		case err == nil && f.failed:
			log.Info("the overview goes on")
		}
		f.failed = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-o.wake:
		}
	}
}

// Wake has the store asked now: something was said.
func (o *Overview) Wake() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// look reads what is new: what was said, and where allocations stand where that was not asked for within an interval.
func (o *Overview) look(ctx context.Context, f *follower) error {
	at, err := o.storeTime(ctx, f)
	if err != nil {
		return err
	}
	if f.since == 0 {
		return o.begin(ctx, f, at)
	}
	said, err := o.said(ctx, f)
	if err != nil {
		return err
	}
	var heads []query.Head
	var labels []query.Label
	judged := int64(0)
	stands := at.UnixNano()-f.since >= int64(o.cfg.Interval)*9/10
	since := f.since - int64(underWay)
	if at.Sub(f.again) >= readAgain {
		since, f.again = f.since-int64(longest), at
	}
	if stands {
		if heads, err = o.from.Heads(ctx, since, o.cfg.Allocations); err != nil {
			return err
		}
		if len(heads) > 0 { // labels come with records
			if labels, err = o.from.LabelsSince(ctx, since); err != nil {
				return err
			}
		}
		if judged, err = o.from.Judged(ctx, heardOf); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	changed := o.takeHeads(heads)
	o.takeLabels(labels, changed)
	fresh := f.fresh(said)
	for i := range fresh {
		o.takeSaid(&fresh[i], changed)
	}
	if stands {
		f.since, o.judged = at.UnixNano(), judged
	}
	o.weigh(at)
	o.arrange(changed)
	o.tell(fresh)
	f.forget(f.since - 2*int64(longest))
	return nil
}

// storeTime is the store's clock: asked now and then, and counted on in between.
func (o *Overview) storeTime(ctx context.Context, f *follower) (time.Time, error) {
	now := o.now()
	if passed := now.Sub(f.asked); f.asked.IsZero() || passed < 0 || passed >= readAgain {
		at, err := o.from.Now(ctx)
		if err != nil {
			return at, err
		}
		f.asked, f.ahead = now, at.Sub(now)
	}
	return now.Add(f.ahead), nil
}

// said reads what was said since the last look, and what became visible late: the words of one replica are told in their order.
func (o *Overview) said(ctx context.Context, f *follower) ([]query.Said, error) {
	marks, err := o.from.SaidMarks(ctx, f.since-int64(longest))
	if err != nil {
		return nil, err
	}
	since := int64(0)
	for _, m := range marks {
		if _, taken := f.seen[key{m.Allocation, m.JudgedAt}]; !taken && (since == 0 || m.Ingested < since) {
			since = m.Ingested
		}
	}
	if since == 0 {
		return nil, nil
	}
	return o.from.SaidSince(ctx, since, most)
}

// begin reads all of it.
func (o *Overview) begin(ctx context.Context, f *follower, at time.Time) error {
	heads, err := o.from.Heads(ctx, 0, o.cfg.Allocations+1)
	if err != nil {
		return err
	}
	labels, err := o.from.LabelsSince(ctx, 0)
	if err != nil {
		return err
	}
	said, err := o.from.LastSaid(ctx, o.cfg.Allocations)
	if err != nil {
		return err
	}
	recent, err := o.from.SaidSince(ctx, at.UnixNano()-int64(longest), most)
	if err != nil {
		return err
	}
	judged, err := o.from.Judged(ctx, heardOf)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.whole = len(heads) <= o.cfg.Allocations
	changed := o.takeHeads(heads[:min(len(heads), o.cfg.Allocations)])
	o.takeLabels(labels, changed)
	for i := range said {
		o.takeSaid(&said[i], changed)
	}
	o.position.Floor = at.UnixNano() - int64(longest)
	for _, s := range f.fresh(recent) {
		o.takeSaid(&s, changed)
		o.position.advance(s)
	}
	o.judged, o.ready = judged, true
	o.weigh(at)
	o.arrange(changed)
	f.since, f.again = at.UnixNano(), at
	close(o.begun)
	return nil
}

// fresh gives what was not taken before, in the order in which each replica said it.
func (f *follower) fresh(said []query.Said) (out []query.Said) {
	for _, s := range said {
		k := key{s.ID, int64(s.JudgedAt)}
		if _, taken := f.seen[k]; taken {
			continue
		}
		f.seen[k] = s.Ingested
		out = append(out, s)
	}
	return out
}

// forget drops what is not read again.
func (f *follower) forget(before int64) {
	for k, at := range f.seen {
		if at < before {
			delete(f.seen, k)
		}
	}
}

// takeHeads gives the rows that are not as they were.
func (o *Overview) takeHeads(heads []query.Head) map[*row]bool {
	changed := map[*row]bool{}
	for _, h := range heads {
		o.newest = max(o.newest, h.Taken)
		r := o.rows[h.ID]
		if r == nil {
			r = &row{}
			o.rows[h.ID] = r
		} else if r.head.Last == h.Last && r.head.Taken == h.Taken && r.head.First == h.First && same(r.head.State, h.State) {
			continue
		}
		if h.State != nil && h.Since != nil && !same(r.head.State, h.State) {
			o.move(r, &headOf{*h.State, *h.Since, h.First})
		}
		r.head = h
		changed[r] = true
	}
	return changed
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

func (o *Overview) takeLabels(labels []query.Label, changed map[*row]bool) {
	for _, l := range labels {
		r := o.rows[l.Allocation]
		if r == nil {
			continue
		}
		switch {
		case l.Name == query.LabelTenant && (r.tenant.Value == "" || cmp.Or(cmp.Compare(l.First, r.tenant.First), strings.Compare(l.Value, r.tenant.Value)) < 0):
			r.tenant = l
		case l.Name == query.LabelProvider && !slices.Contains(r.provider, l.Value):
			r.provider = append(r.provider, l.Value)
			slices.Sort(r.provider)
		default:
			continue
		}
		changed[r] = true
	}
}

func (o *Overview) takeSaid(s *query.Said, changed map[*row]bool) {
	r := o.rows[s.ID]
	if r == nil {
		if !o.whole {
			return
		}
		r = &row{head: query.Head{ID: s.ID, State: s.Assessment.State, Since: s.Assessment.Since, First: s.Assessment.LastSeen, Last: s.Assessment.LastSeen}}
		o.rows[s.ID] = r
	}
	if r.said != nil && r.said.JudgedAt >= s.JudgedAt {
		return
	}
	before := ""
	if r.said == nil {
		o.examined++
	} else {
		before = r.said.Assessment.Verdict.Outcome
	}
	if now := s.Assessment.Verdict.Outcome; o.watcher != nil && o.ready && now != before {
		o.watcher.Judged(before, now)
	}
	s.Quiet = s.Quiet || !s.Assessment.Notable()
	r.whole = !s.Quiet || len(s.Assessment.Verdict.Findings)+len(s.Assessment.Verdict.Missing) == 0
	if s.Quiet {
		s.Assessment.Occurrences, s.Assessment.Verdict.Findings, s.Differs, s.ChangedBy = nil, []correlator.Finding{}, nil, nil
	}
	kept := *s
	r.said = &kept
	changed[r] = true
	if r.telling() {
		o.telling[s.ID] = r
	} else {
		delete(o.telling, s.ID)
	}
}

// arrange puts rows that changed where they belong, and lets go of what is too much.
func (o *Overview) arrange(changed map[*row]bool) {
	if len(changed) == 0 {
		return
	}
	now := o.now().UnixNano()
	fresh := make([]*row, 0, len(changed))
	for r := range changed {
		r.compose(now)
		fresh = append(fresh, r)
	}
	o.byLast = merged(o.byLast, fresh, changed, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.head.Last, a.head.Last), strings.Compare(a.head.ID, b.head.ID))
	})
	if excess := len(o.byLast) - o.cfg.Allocations; excess > 0 {
		o.whole = false
		for _, r := range o.byLast[o.cfg.Allocations:] {
			delete(o.rows, r.head.ID)
			delete(o.telling, r.head.ID)
			changed[r] = true
		}
		o.byLast = o.byLast[:o.cfg.Allocations]
		fresh = slices.DeleteFunc(fresh, func(r *row) bool { return o.rows[r.head.ID] != r })
	}
	o.byID = merged(o.byID, fresh, changed, func(a, b *row) int { return strings.Compare(a.head.ID, b.head.ID) })
}

// merged is an ordered list without the rows that changed, and with them where they belong now.
func merged(list, fresh []*row, changed map[*row]bool, compare func(a, b *row) int) []*row {
	slices.SortFunc(fresh, compare)
	out, next := make([]*row, 0, len(list)+len(fresh)), 0
	for _, r := range list {
		if changed[r] {
			continue
		}
		for next < len(fresh) && compare(fresh[next], r) < 0 {
			out = append(out, fresh[next])
			next++
		}
		out = append(out, r)
	}
	return append(out, fresh[next:]...)
}
