package correlator

import (
	"regexp"
	"slices"
	"strings"
	"time"

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
		if e.Attr(semconv.ActorType) != "admin" || !holdsAny(action, "maintenance", "drain", "cordon", "evacuate") {
			return
		}
		for _, thing := range namedThings.FindAllString(strings.ToLower(e.Attr(semconv.Reason)), -1) {
			if holdsAny(action, "maintenance_end", "uncordon", "stop", "finish", "close") {
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
const maintenanceLasts = int64(4 * time.Hour)

// shutDownInside is the machine's own word that somebody logged in on it shut it down, minutes before it was missed, and that it went on running
// afterwards only by somebody's wish: what the tenant does with his machine is his affair. So is that he, or somebody else, does not get to it meanwhile.
func (c *Case) shutDownInside(t *Trouble) (note *Event) {
	first, end := t.Cites[0], t.Cites[len(t.Cites)-1]
	if t.Kind == RequestTrouble {
		failures := c.Failures(t)
		i := slices.IndexFunc(failures, reaches)
		if i < 0 || c.platformComplains(t) {
			return nil
		}
		first = failures[i]
	} else if end.To() != semconv.Degraded {
		return nil
	}
	for _, node := range c.Lifecycle.Nodes {
		c.EachIn(semconv.LayerNode, first.At-int64(15*time.Minute), end.At, func(e *Event) {
			if Names(e, node) && !e.IsEvent() && holdsAny(e.Text, shutDownWords...) {
				note = e
			}
		})
	}
	return note
}

// shutDownWords are those by which a machine tells that somebody on it shuts it down (sudo's log, systemd-logind).
var shutDownWords = []string{
	"shutdown initiated by", "powering down (", "command=/usr/sbin/shutdown", "command=/sbin/shutdown", "command=/usr/sbin/poweroff", "command=/sbin/poweroff", "command=/usr/sbin/halt",
	"command=/usr/bin/systemctl poweroff",
}
