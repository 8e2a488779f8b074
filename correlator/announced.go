package correlator

import (
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
)

// namedThings find names of machines, switches and changes in an administrator's reason: words with letters and a number.
var namedThings = regexp.MustCompile(`[a-z][a-z0-9]*(?:-[a-z0-9]+)*-?\d[a-z0-9-]*`)

// announced is the administrator's note of planned work that explains why an allocation was worse off for a while: it was open at that time, names
// somebody who tells of the trouble, and the allocation was well again without anybody's help. Nil where there is none.
func (c *Case) announced(t *Trouble) (note *Event) {
	end := t.Cites[len(t.Cites)-1]
	if t.Kind != StateTrouble || end.To() != semconv.Degraded || t.Cleared == 0 {
		return nil
	}
	open := map[string]*Event{}
	c.EachEvent(semconv.EventAudit, end.At-maintenanceLasts, end.At, func(e *Event) {
		action := strings.ToLower(e.Attr(semconv.Action))
		if e.Attr(semconv.ActorType) != "admin" || !strings.Contains(action, "maintenance") {
			return
		}
		for _, thing := range namedThings.FindAllString(strings.ToLower(e.Attr(semconv.Reason)), -1) {
			if holdsAny(action, "end", "stop", "finish", "close") {
				delete(open, thing)
			} else if len(thing) > 3 {
				open[thing] = e
			}
		}
	})
	if len(open) == 0 {
		return nil
	}
	c.Each(end.At-skew, end.At+skew, func(e *Event) {
		if e.IsEvent() || note != nil {
			return
		}
		for thing, by := range open {
			if e.Service == thing || e.Node == thing || strings.Contains(e.Text, thing) {
				note = by
			}
		}
	})
	return note
}

// maintenanceLasts is how long planned work that nobody noted the end of is believed to go on.
const maintenanceLasts = int64(4 * 60 * 60 * 1e9)
