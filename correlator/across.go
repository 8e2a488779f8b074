package correlator

import (
	"context"
	"errors"

	"github.com/faultline-io/faultline/internal/profile"
)

// gathered puts together the case of one allocation out of a library. ErrUnknown where there is no
// record of it.
func gathered(ctx context.Context, l Library, p *profile.Profile, allocation string, asOf int64) (*Case, error) {
	story, err := l.Story(ctx, allocation, asOf)
	if err != nil {
		return nil, err
	}
	for _, c := range Gather(story.Records, story.Facts, p, Moment{AsOf: asOf, Now: story.Now, Durations: story.Durations}).Cases() {
		if c.ID == allocation {
			return c, nil
		}
	}
	return nil, ErrUnknown
}

// Reasoned is Judgement, and how it came to its verdict.
func Reasoned(ctx context.Context, l Library, p *profile.Profile, rules []Rule, allocation string, asOf int64) (Allocation, Reasoning, error) {
	c, err := gathered(ctx, l, p, allocation, asOf)
	if err != nil {
		return Allocation{}, Reasoning{}, err
	}
	v, why := Explain(c, rules)
	s := c.standing(v)
	if err := inCompany(ctx, l, &s, p, asOf); err != nil {
		return Allocation{}, Reasoning{}, err
	}
	return c.told(s.Verdict), why, nil
}

// StandingsOf judges the allocations that were heard of last, at most so many, when it is asked: for
// libraries whose verdicts nobody keeps.
func StandingsOf(ctx context.Context, l Library, p *profile.Profile, rules []Rule, asOf int64, most int) ([]Standing, error) {
	listed, err := l.List(ctx, ListQuery{Limit: most})
	if err != nil {
		return nil, err
	}
	out, together := []Standing{}, NewTogether()
	for _, one := range listed {
		c, err := gathered(ctx, l, p, one.ID, asOf)
		switch {
		case errors.Is(err, ErrUnknown):
			continue // nothing of it had been observed by then
		case err != nil:
			return nil, err
		}
		out = append(out, c.Standing(rules))
		together.Add(&out[len(out)-1])
	}
	for i := range out {
		together.Weigh(&out[i], p)
	}
	return out, nil
}
