package score

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/faultline-io/faultline/lab"
)

// Limit is how long after a fault's first visible trace its owner must be named.
const Limit = 60 * time.Second

// Ruling is what a judge says of an allocation at one moment.
type Ruling struct {
	Outcome string // none, attributed, contested, undetermined; "": nothing is known of the allocation
	Blames  []string
	At      time.Time // when it was said first
}

// Judge gives verdicts.
type Judge interface {
	// Rule gives what has been said of one allocation so far, the oldest first, the last one by what is known now. A longer
	// answer begins with what was said before.
	Rule(ctx context.Context, allocation string) ([]Ruling, error)
	// Trouble gives the times of the failure records in an allocation's timeline, and of the lapses of what was owed, in
	// the timeline's order.
	Trouble(ctx context.Context, allocation string) ([]time.Time, error)
	// Alarms lists what was ever said of an allocation but "none".
	Alarms(ctx context.Context, allocation string) ([]Ruling, error)
	// TaskActions are the moves of an allocation's tasks, and its agents' requests about them.
	TaskActions(ctx context.Context, allocation string) ([]TaskAction, error)
}

// Lab is a platform that runs; *lab.Remote is one.
type Lab interface {
	Lives(ctx context.Context) ([]lab.Lived, error)
	Inject(ctx context.Context, o lab.Order) (lab.On, error)
	Heal(ctx context.Context, fault string) error
}

// Stage is a lab that runs, with somebody who judges what happens there.
type Stage struct {
	Remote Lab
	Judge  Judge
	Log    func(format string, args ...any)
	Look   time.Duration // between two looks
	Hold   time.Duration // longest time for which a fault stays on
}

// watched is what was said of one allocation while it was looked at.
type watched struct {
	life  lab.Lived
	last  Ruling
	right time.Time // first right ruling
	paid  time.Time // when the lab first knew that it cost something: a request, its end, or the time for its step
	exact bool      // the mechanism was named, too
	wrong []string  // other owners that were named on the way
	heard int       // rulings

	visible time.Time // when the fault began to show; found in the end
}

func (s *Stage) pause(ctx context.Context) error {
	t := time.NewTimer(s.Look)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Run makes one fault and scores it. The error is one of the experiment; a miss is in the result.
func (s *Stage) Run(ctx context.Context, f lab.Fault) (Result, error) {
	w := &watch{stage: s, fault: f, began: time.Now(), seen: map[string]*watched{}}
	if err := w.baseline(ctx); err != nil {
		return Result{}, err
	}
	on, err := s.Remote.Inject(ctx, lab.Order{Name: f.Name})
	if err != nil {
		return Result{}, err
	}
	w.since = on.Since
	err = w.hold(ctx)
	if e := s.Remote.Heal(context.WithoutCancel(ctx), f.Name); err == nil {
		err = e
	}
	if err == nil {
		w.healed = time.Now()
		err = w.drain(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	return w.result(ctx)
}

// watch is one experiment.
type watch struct {
	stage  *Stage
	fault  lab.Fault
	began  time.Time // the experiment; whoever had ended by then is an earlier one's
	since  time.Time
	healed time.Time
	seen   map[string]*watched
}

// baseline waits until the lab is seen to work.
func (w *watch) baseline(ctx context.Context) error {
	for end := time.Now().Add(2 * time.Minute); ; {
		lives, err := w.stage.Remote.Lives(ctx)
		if err != nil {
			return err
		}
		well := 0
		for _, v := range lives {
			if !v.Ended.IsZero() && v.AsWritten && !v.Told && (v.Story == w.fault.Story() || w.fault.Story() == "aap_cancel") {
				well++
			}
		}
		if well >= 2 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s: no two allocations came to their end in two minutes, the lab is not well", w.fault.Name)
		}
		if err := w.stage.pause(ctx); err != nil {
			return err
		}
	}
}

// hold keeps the fault on until everybody whom it has cost something so far is judged right, or its time is over.
func (w *watch) hold(ctx context.Context) error {
	for calm := 0; time.Since(w.since) < w.stage.Hold; {
		if err := w.look(ctx, false); err != nil {
			return err
		}
		right, open := 0, 0
		for _, v := range w.seen {
			switch {
			case !v.life.Cost:
			case v.right.IsZero():
				open++
			default:
				right++
			}
		}
		if calm++; right == 0 || open > 0 {
			calm = 0
		}
		if calm >= 3 {
			return nil
		}
		if err := w.stage.pause(ctx); err != nil {
			return err
		}
	}
	return nil
}

// drain looks on until everybody has come to an end, or has had the time for it.
func (w *watch) drain(ctx context.Context) error {
	for end := time.Now().Add(w.stage.Hold); time.Now().Before(end); {
		if err := w.look(ctx, false); err != nil {
			return err
		}
		going := 0
		for _, v := range w.seen {
			if v.life.Ended.IsZero() || v.life.Cost && v.right.IsZero() && time.Since(v.life.Ended) < Limit/2 {
				going++
			}
		}
		if going == 0 {
			return w.settle(ctx)
		}
		if err := w.stage.pause(ctx); err != nil {
			return err
		}
	}
	return w.settle(ctx)
}

// settle looks on until the verdicts have stood for a while: the last records may still be on their way.
func (w *watch) settle(ctx context.Context) error {
	said := func() map[string]string {
		all := map[string]string{}
		for id, v := range w.seen {
			all[id] = say(v.last)
		}
		return all
	}
	if err := w.look(ctx, true); err != nil {
		return err
	}
	before, stood := said(), time.Now()
	for end := time.Now().Add(Limit); time.Now().Before(end) && time.Since(stood) < settled; {
		if err := w.stage.pause(ctx); err != nil {
			return err
		}
		if err := w.look(ctx, true); err != nil {
			return err
		}
		if now := said(); !maps.Equal(before, now) {
			before, stood = now, time.Now()
		}
	}
	return nil
}

// settled is for how long a verdict has stood that is believed to be the last one.
const settled = 6 * time.Second

// look asks for what is said of each allocation that has met the fault, of those that are judged right already only where
// everybody is asked for.
func (w *watch) look(ctx context.Context, everybody bool) error {
	lives, err := w.stage.Remote.Lives(ctx)
	if err != nil {
		return err
	}
	for _, life := range lives {
		if life.Told || life.Fault != w.fault.Name || !life.Since.Equal(w.since) { // it may have been made here before
			continue
		}
		v := w.seen[life.AllocationID]
		if v == nil {
			v = &watched{}
			w.seen[life.AllocationID] = v
		}
		v.life = life
		if life.Cost && v.paid.IsZero() {
			v.paid = time.Now()
		}
		if !v.right.IsZero() && !everybody {
			continue
		}
		said, err := w.stage.Judge.Rule(ctx, life.AllocationID)
		if err != nil {
			return fmt.Errorf("judge %s: %w", life.AllocationID, err)
		}
		for ; v.heard < len(said); v.heard++ {
			w.hear(v, said[v.heard])
		}
	}
	return nil
}

// hear takes one more word on an allocation.
func (w *watch) hear(v *watched, r Ruling) {
	v.last = r
	if w.is(r) && v.right.IsZero() {
		v.right = r.At
	}
	v.exact = v.exact || w.is(r) && w.exact(r)
	for _, b := range r.Blames {
		if r.Outcome == attributed && !w.owns(b) && (len(v.wrong) == 0 || v.wrong[len(v.wrong)-1] != b) {
			v.wrong = append(v.wrong, b)
		}
	}
}

func (w *watch) owner() string { return w.fault.Layer + "/" + w.fault.Mechanism }
