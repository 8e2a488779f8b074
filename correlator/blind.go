package correlator

import (
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// blindTroubles finds jobs of which nothing can be known: every look at them has failed for longer than two
// silences that a component may keep, and the last one too. What a view shows meanwhile is what was known before.
func blindTroubles(c *Case) []*Trouble {
	polls := map[string][]*Event{}
	for _, e := range c.see(sight{seeEvent, "", semconv.EventProviderPoll}).own {
		job := e.Own(identity.ProviderJob)
		if e.Attr(semconv.PollOK) == "true" {
			polls[job] = nil
			continue
		}
		polls[job] = append(polls[job], e)
	}
	var out []*Trouble
	for _, j := range c.Lifecycle.Jobs {
		failed := polls[j.ID]
		if jobOver(j.Last().To) || len(failed) < 2 {
			continue
		}
		first, last := failed[0], failed[len(failed)-1]
		if last.At-first.At < 2*int64(c.Profile.Budgets().Heartbeat) || j.Last().At > last.At {
			continue
		}
		out = append(out, &Trouble{
			Kind: JobTrouble, From: first.At, At: last.At, Owes: semconv.LayerProvider, Cites: distinct(append([]*Event{j.Last().Event}, failed...)...),
			What: join("nothing has been known of provider job", j.ID, "since", Time(first.At).String(), "("+time.Duration(last.At-first.At).String()+")"),
		})
	}
	return out
}
