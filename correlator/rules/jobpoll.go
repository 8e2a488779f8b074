package rules

import (
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// stoppedAsking needs at least three questions after the job, a silence of thrice their distance, and a sign of life of the
// platform after it.
func stoppedAsking(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if gaveUp(t) {
		return gaveUpUnasked(c, t)
	}
	if t.Kind != correlator.OverdueTrouble || t.Owes != semconv.LayerProvider {
		return nil
	}
	polls := pollsOf(c, "", c.Now)
	if finished := ended(c, t); finished != nil && len(polls) > 0 { // who cannot be asked (EDA) tells its end in another way
		if alive := c.AliveBetween(semconv.LayerWorkflow, finished.At+int64(time.Minute), c.Now); alive != nil {
			return []correlator.Evidence{{
				Weight: correlator.Telling, Directness: correlator.Caller, Onset: finished.At, Records: append([]*correlator.Event{finished, alive}, t.Cites...),
				Summary: "the provider tells that it carried the order out, and the platform, which is alive, took no notice" + quote(finished),
			}}
		}
	}
	if len(polls) < 3 {
		return nil
	}
	last := polls[len(polls)-1]
	every := (last.At - polls[0].At) / int64(len(polls)-1)
	alive := c.AliveBetween(semconv.LayerWorkflow, last.At+3*every, c.Now)
	if alive == nil || c.Now-last.At < 5*every {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: last.At, Records: append([]*correlator.Event{last, alive}, t.Cites...),
		Summary: "the platform asked after the job every " + time.Duration(every).Round(time.Second).String() + " until " + correlator.Time(last.At).Milli() + " and no more, and is alive",
	}}
}

// pollsOf are the questions after a job until a time, those after any job where none is named.
func pollsOf(c *correlator.Case, job string, at int64) (polls []*correlator.Event) {
	for _, e := range c.Events {
		if e.At <= at && e.Is(semconv.EventProviderPoll) && (job == "" || e.Own(identity.ProviderJob) == job) {
			polls = append(polls, e)
		}
	}
	return polls
}

// gaveUpUnasked needs a platform that gave up while a job was under way as far as it knew, that had asked after this job before, and went on living without
// asking since the provider told the job's end, minutes before.
func gaveUpUnasked(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	for _, j := range c.Lifecycle.Jobs {
		if !atWork(j, t.At) || j.Changes[0].At < t.From-moment {
			continue
		}
		polls := pollsOf(c, j.ID, t.At-1)
		if len(polls) < 2 {
			continue
		}
		last := polls[len(polls)-1]
		if done := toldEnd(c, j, t.At); done != nil && last.At < done.At && t.At-done.At >= tellsWithin {
			if alive := c.AliveBetween(semconv.LayerWorkflow, done.At+1, t.At-1); alive != nil {
				return []correlator.Evidence{{
					Weight: correlator.Telling, Directness: correlator.Caller, Onset: last.At, Records: append([]*correlator.Event{last, done, alive}, t.Cites...),
					Summary: "the platform asked after job " + j.ID + " until " + correlator.Time(last.At).Milli() + " and no more, and took no notice of its end" + quote(done),
				}}
			}
		}
	}
	return nil
}
