package correlator

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

func releasedWhileOccupied(c *Case) []Finding {
	state, since, ok := c.Lifecycle.State()
	if !ok || state != semconv.Released {
		return nil
	}
	var out []Finding
	for _, e := range sortedEvents(c.occupancyOf(0, c.Now)) {
		occupied := e.To() == "occupied" || e.To() == "cleanup"
		if late := e.At > since+skew || c.Now > since+int64(c.Profile.Budgets().TaskClaim)+skew; occupied && late {
			out = append(out, found("released_while_occupied", "released, and node "+e.Node+" is still "+e.To()+" for it", c.entered(), e)...)
		}
	}
	return out
}

// occupancyOf is what a node's own record of its occupancy said last in [from, to], by node.
func (c *Case) occupancyOf(from, to int64) map[string]*Event {
	out := map[string]*Event{}
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventNodeOccupancy}).own {
		if e.At >= from && e.At <= to {
			out[e.Node] = e
		}
	}
	return out
}

func releaseFailedUnfenced(c *Case) []Finding {
	var out []Finding
	for i, s := range c.Lifecycle.States {
		if s.To != semconv.ReleaseFailed {
			continue
		}
		end := c.Now
		if i+1 < len(c.Lifecycle.States) {
			end = c.Lifecycle.States[i+1].At
		}
		for _, e := range sortedEvents(c.occupancyOf(s.At+skew, end-1)) {
			if e.To() != "cleanup" && e.To() != "fenced" && e.To() != "unknown" {
				out = append(out, found("release_failed_unfenced", "the release failed, and node "+e.Node+" went to "+e.To(), s.Event, e)...)
			}
		}
	}
	return out
}

func illegalOccupancy(c *Case) []Finding {
	var out []Finding
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventNodeOccupancy}).own {
		move := e.Attr(semconv.From) + "→" + e.To()
		switch move {
		case "cleanup→occupied", "cleanup→reserved", "occupied→free", "fenced→occupied", "fenced→reserved":
			out = append(out, found("illegal_occupancy", "node "+e.Node+" moved "+strings.ReplaceAll(move, "→", " → "), e)...)
		}
	}
	return out
}

func supersededResult(c *Case) []Finding {
	ended := map[string]*Event{}
	all := c.lookup(indexKey{namedEvent, "", semconv.EventNodeInstance})
	for _, list := range [][]*Event{all.unattributed, all.own} {
		for _, e := range list {
			if to := e.To(); to == semconv.Superseded || to == semconv.Lost {
				if id := e.Own(identity.NodeInstance); ended[id] == nil || e.At < ended[id].At {
					ended[id] = e
				}
			}
		}
	}
	var out []Finding
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventTaskState}).own {
		gone := ended[e.Own(identity.NodeInstance)]
		if gone != nil && (e.To() == semconv.Succeeded || e.To() == semconv.Failed) && e.At > gone.At+skew {
			out = append(out, found("result_of_superseded_instance", "task "+e.Own(identity.Task)+" got a result of node instance "+e.Own(identity.NodeInstance)+", which had been "+gone.To(), gone, e)...)
		}
	}
	return out
}

func staleFence(c *Case) []Finding {
	var out []Finding
	highest := map[string]int{}
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventTaskState}).own {
		fence, err := strconv.Atoi(e.Attr(semconv.Fence))
		if err != nil {
			continue
		}
		task := e.Own(identity.Task)
		switch e.To() {
		case semconv.Dispatched:
			highest[task] = max(highest[task], fence)
		case semconv.Succeeded, semconv.Failed:
			if fence < highest[task] {
				out = append(out, found("stale_fence", "task "+task+": a result with fence "+strconv.Itoa(fence)+" was applied after "+strconv.Itoa(highest[task])+" had been given out", e)...)
			}
		}
	}
	return out
}

func cleanupWithoutProof(c *Case) []Finding {
	var out []Finding
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventAudit}).own {
		action := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(e.Attr(semconv.Action)))
		if !strings.Contains(action, "force_cleanup") {
			continue
		}
		said := strings.ToLower(e.Text + " " + e.Attr("runtime_verified_absent") + " " + e.Attr("before") + " " + e.Attr("after") + " " + e.Attr("evidence_refs"))
		if !strings.Contains(said, "true") && !strings.Contains(said, "verified") && !strings.Contains(said, "e-") {
			out = append(out, found("cleanup_without_proof", "a forced clean-up names nothing that proves that nothing runs", e)...)
		}
	}
	return out
}

func sortedEvents(by map[string]*Event) []*Event {
	var out []*Event
	for _, e := range by {
		out = append(out, e)
	}
	slices.SortFunc(out, CompareEvents)
	return out
}

// leftovers find what was there already, by the word of who was to make it (libvirt, Redfish, cloud APIs): its kind, name and identifier.
var leftovers = regexp.MustCompile(`\b([a-z]+) '([^']+)' already exists with uuid ([0-9a-f][0-9a-f-]{7,})`)

// leftover names what an earlier life left behind and is in the way. Whose it was nothing says.
func leftover(c *Case) []Finding {
	var out []Finding
	seen := map[string]bool{}
	for _, e := range c.ownFailures().events {
		if !strings.Contains(e.Text, "already exists with uuid") {
			continue
		}
		if m := leftovers.FindStringSubmatch(e.Text); m != nil && !seen[m[3]] {
			seen[m[3]] = true
			out = append(out, found("leftover", m[1]+" "+m[2]+" ("+m[3]+") was there already: something that an earlier life left", e)...)
		}
	}
	return out
}
