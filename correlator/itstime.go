package correlator

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// ofItsTime leaves out what had ended before the step began: that is another step's matter, if anything went on during it.
func (j *judgement) ofItsTime(t *Trouble, d *Deliberation, found []Evidence) []Evidence {
	during := func(ev Evidence) bool {
		if ev.Layer == semconv.LayerCert && ev.Mechanism == "expired" && ev.Last >= t.From-besideTime {
			return true // a certificate does not come back to life
		}
		if j.goneSince(t, &ev) {
			return true
		}
		return ev.Last >= t.From-shortly(t, &ev) || slices.ContainsFunc(ev.Records, func(e *Event) bool {
			return e.Allocation == "" && (j.c.saidAgain(e) > t.From || j.c.portLasts(e, t.From)) || (e.Layer == semconv.LayerNode || e.Layer == semconv.LayerDB) && j.c.Lasts(e, t.From) ||
				j.c.failsStill(e, t)
		})
	}
	if !slices.ContainsFunc(found, during) {
		return found
	}
	told := slices.ContainsFunc(found, func(ev Evidence) bool { return ev.Weight >= Telling && during(ev) })
	kept := func(e *Event) bool { return !told && j.c.keptFromAsking(e, t) }
	return slices.DeleteFunc(found, func(ev Evidence) bool {
		if during(ev) || slices.ContainsFunc(ev.Records, kept) {
			return false
		}
		d.drop(&ev, "it had ended before the step began")
		return true
	})
}

// goneSince says whether a program ended before a step began, and was not heard of again until then: whoever has ended is gone.
func (j *judgement) goneSince(t *Trouble, ev *Evidence) bool {
	if ev.Rule != ev.Layer+".crash" || ev.Last < t.From-besideTime {
		return false
	}
	last := ev.Records[len(ev.Records)-1]
	if last.Node != "" {
		return j.c.aliveOn(ev.Layer, last.Node, ev.Last+moment, t.From) == nil
	}
	return j.c.AliveBetween(ev.Layer, ev.Last+moment, t.From) == nil
}

// pathNamed finds the path of a call in what somebody tells of it.
var pathNamed = regexp.MustCompile(`(?:^|[ "])(/[\w.{}-]+(?:/[\w.{}-]+){2,})`)

// failsStill says whether somebody told before a step of a call of the allocation's own machine that he refused, by its path, which fails during the step,
// too, and was served at no time between: he need not say why each time.
func (c *Case) failsStill(e *Event, t *Trouble) bool {
	if e.At >= t.From || e.At < t.From-besideTime || !e.fails || t.Node == "" || !strings.Contains(e.Text, strings.ToLower(t.Node)) {
		return false
	}
	m := pathNamed.FindStringSubmatch(e.Text)
	if m == nil {
		return false
	}
	still, served := false, false
	for _, list := range [][]*Event{c.Events, c.Unattributed} {
		for _, later := range list {
			if later.At > e.At+moment && later.At <= t.At && (strings.EqualFold(later.HTTP.Path, m[1]) || strings.Contains(later.Text, m[1])) {
				still = still || later.At >= t.From && later.HTTP.Refused()
				served = served || later.HTTP.Status >= 200 && later.HTTP.Status < 400
			}
		}
	}
	return still && !served
}

// shortly is how long before a trouble what was said may have ended and still be why: a request that failed tells of what stood a moment before,
// and a database, which serves everybody, may have told it of another request.
func shortly(t *Trouble, ev *Evidence) int64 {
	if t.Kind == RequestTrouble && ev.Layer == semconv.LayerDB {
		return int64(30 * time.Second)
	}
	return moment
}

// keptFromAsking says whether a machine was turned away shortly before its task was queued, and has not got through since: that the task was never taken
// is why.
func (c *Case) keptFromAsking(e *Event, t *Trouble) bool {
	if !t.NeverTaken() || t.Node == "" || e.At < t.From-turnedAwayFor || e.Node != t.Node && !Names(e, t.Node) {
		return false
	}
	for _, o := range c.Events {
		if o.At > e.At && o.At <= t.At && o.Node == t.Node && o.Layer == semconv.LayerNodeAgent && !o.TellsOfFailure() {
			return false
		}
	}
	return true
}

// turnedAwayFor is how long before a task was queued its machine may have been turned away for the last time that was kept: an agent asks every minute or so,
// and says the same again more seldom.
const turnedAwayFor = int64(10 * time.Minute)
