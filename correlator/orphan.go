package correlator

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// sweepTime is how long after the end of its allocation a resource may still be seen without being an orphan:
// what deletes it has to be told, and to do it (docs/domain.md §4.9, I7).
const sweepTime = 2 * time.Minute

// Orphans lists the allocation's resources that outlived it: seen alive after its end, and not gone since. A
// resource that nobody looked at after the end is none; nobody knows.
func (c *Case) Orphans() []Orphan {
	state, since, ok := c.Lifecycle.State()
	if !ok || state != semconv.Released && state != semconv.Canceled {
		return nil
	}
	deadline := since + int64(sweepTime)
	alive := map[string][]*Event{}
	own := c.lookup(indexKey{}).own
	for _, e := range own[firstAt(own, deadline):] {
		for _, k := range e.Keys {
			if k.Kind != identity.Resource {
				continue
			}
			switch {
			case tellsOfAbsence(e):
				delete(alive, k.ID)
			case tellsOfLife(e):
				alive[k.ID] = append(alive[k.ID], e)
			}
		}
	}
	var out []Orphan
	for id, events := range alive {
		kind := ""
		for _, e := range events {
			kind = firstOf(kind, kindOf(e, id))
		}
		out = append(out, Orphan{ResourceUID: id, Kind: kind, AllocationID: c.ID, Evidence: refs(append(distinct(c.entered()), events...))})
	}
	slices.SortFunc(out, func(a, b Orphan) int { return cmp.Compare(a.ResourceUID, b.ResourceUID) })
	return out
}

// kindOf is what sort of thing a resource is, as far as anybody says.
func kindOf(e *Event, id string) string {
	for _, name := range []string{"resource_kind", "resource.kind", "k8s.object.kind", "k8s.kind", "kind"} {
		if v := e.Attr(name); v != "" {
			return v
		}
	}
	if kind, _, found := strings.Cut(id, "/"); found {
		return kind
	}
	return ""
}

func tellsOfAbsence(e *Event) bool {
	if e.HTTP.Status == 404 || e.HTTP.Status == 410 {
		return true
	}
	return holdsAny(e.Text, "deleted", "not found", "notfound", "removed", "destroyed", "no longer exists", "does not exist", "terminated", "gone")
}

// tellsOfLife says whether a record shows that a resource exists. A failed call about it shows nothing.
func tellsOfLife(e *Event) bool {
	if e.Failed() && e.Severity >= severityError || e.HTTP.Refused() {
		return false
	}
	switch e.Layer {
	case semconv.LayerProvider, semconv.LayerNode, semconv.LayerNodeAgent, semconv.LayerWorkflow, semconv.LayerAPI:
	default:
		return false
	}
	return holdsAny(e.Text+" "+strings.ToLower(e.Attr("status")+" "+e.Attr("phase")+" "+e.Attr("state")), "running", "started", "created", "still", "exists", "present", "booted", "orphan", "found in inventory", "unlabelled", "ready")
}

// orphanTroubles: a resource that came or stayed after the end, while a job of the allocation still worked on
// it, was let slip by whoever ended the allocation without waiting for that job.
func orphanTroubles(c *Case) []*Trouble {
	orphans := c.Orphans()
	if len(orphans) == 0 {
		return nil
	}
	_, since, _ := c.Lifecycle.State()
	for _, j := range c.jobsOf("provision", "") {
		before := j.at(since)
		if before == nil || jobOver(before.To) {
			continue
		}
		var seen []*Event
		own := c.lookup(indexKey{}).own
		for _, e := range own[firstAt(own, since):] {
			if slices.Contains(orphans[0].Evidence, e.Ref) {
				seen = append(seen, e)
			}
		}
		if len(seen) == 0 {
			continue
		}
		return []*Trouble{{
			Kind: OrphanTrouble, From: since, At: seen[len(seen)-1].At, Owes: semconv.LayerWorkflow,
			What:  join("the allocation ended while job", j.ID, "was", strings.ToLower(before.To)+", and", firstOf(orphans[0].Kind, "resource"), orphans[0].ResourceUID, "lives on"),
			Cites: append(distinct(before.Event, c.entered(), j.Last().Event), seen...),
		}}
	}
	return nil
}
