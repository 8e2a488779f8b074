package matrix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/lab/score"
)

// Run makes one case after the other.
type Run struct {
	Rig   *Rig
	Judge score.Judge
	Last  time.Duration // for how long each interruption lasts
	Calm  time.Duration // until what it did is over, and said
}

// Result is what was said of the allocations that lived during a case.
type Result struct {
	Case   string
	Owners []string
	Lived  int
	Named  int      // of which an owner was named, and nobody else
	Open   int      // of which nobody was named, and something was said to be wrong
	Quiet  int      // of which nothing was said
	Wrong  []string // "allocation: owner", of which anybody else was ever named
}

// OK says whether nobody was blamed who stood by.
func (r Result) OK() bool { return len(r.Wrong) == 0 && r.Lived > 0 }

// Do makes a case.
func (r *Run) Do(ctx context.Context, c Case) (out Result, err error) {
	from := time.Now()
	end, err := c.begin(r.Rig)
	if err != nil {
		return out, fmt.Errorf("%s: %w", c.Name, err)
	}
	err = pause(ctx, r.Last)
	if err = errors.Join(err, end()); err != nil {
		return out, fmt.Errorf("%s: %w", c.Name, err)
	}
	healed := time.Now()
	if err := pause(ctx, r.Calm); err != nil {
		return out, err
	}
	lives, err := r.Rig.Remote.Lives(ctx)
	if err != nil {
		return out, err
	}
	out.Case, out.Owners = c.Name, c.Owners
	for _, v := range lives {
		if v.Told || v.Began.After(healed) || !v.Ended.IsZero() && v.Ended.Before(from) {
			continue
		}
		said, err := r.Judge.Rule(ctx, v.AllocationID)
		if err != nil {
			return out, fmt.Errorf("judge %s: %w", v.AllocationID, err)
		}
		out.count(v, said, from)
	}
	return out, nil
}

// stood is for how long something was said that somebody would have been told: the records of one request arrive within seconds of
// each other.
const stood = 6 * time.Second

// count takes what was said of one allocation since the case began, and not before: what an interruption before it had done is said again when
// anything else of the verdict changes.
func (r *Result) count(v lab.Lived, said []score.Ruling, from time.Time) {
	r.Lived++
	var named, wrong []string
	spoken := false
	before := map[string]bool{}
	for _, one := range said {
		for _, blame := range one.Blames {
			before[blame] = before[blame] || one.At.Before(from)
		}
	}
	for i, one := range said {
		if passing := i+1 < len(said) && said[i+1].At.Sub(one.At) < stood; passing || one.At.Before(from) {
			continue
		}
		spoken = spoken || one.Outcome != "none" && (len(one.Blames) == 0 || slices.ContainsFunc(one.Blames, func(blame string) bool { return !before[blame] }))
		for _, blame := range one.Blames {
			if before[blame] {
				continue
			}
			layer, _, _ := strings.Cut(blame, "/")
			if slices.Contains(r.Owners, layer) {
				named = append(named, blame)
			} else if !slices.Contains(wrong, blame) {
				wrong = append(wrong, blame)
			}
		}
	}
	switch {
	case len(wrong) > 0:
		r.Wrong = append(r.Wrong, v.AllocationID+": "+strings.Join(wrong, ", "))
	case len(named) > 0:
		r.Named++
	case spoken:
		r.Open++
	default:
		r.Quiet++
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
