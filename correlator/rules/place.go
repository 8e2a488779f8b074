package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// place finds nodes that went silent together, while others go on: nothing that is one node's own does that.
func place() []correlator.Rule {
	return []correlator.Rule{{
		ID: "network.place", Layer: semconv.LayerNetwork, Mechanism: "unreachable",
		Looks:      "all nodes of one rack, chassis or switch that went silent within moments of each other, while nodes elsewhere go on",
		NextCheck:  "the switch and the power of that place",
		SafeAction: "do not reimage any of its nodes; nothing says that they are broken",
		Find:       silentPlace,
	}}
}

// places are the attributes by which inventories say where a machine stands, as something that fails as one. Sources: NetBox's,
// MAAS's and Ironic's fields, Kubernetes' topology labels, LLDP. Zones are too large: whole sites share one.
var places = []string{
	"rack", "rack.name", "rack_id", "host.rack", "node.rack", "location.rack", "topology.kubernetes.io/rack", "topology.rack",
	"switch", "switch.name", "switch_id", "network.switch", "lldp.switch", "tor", "tor.switch", "chassis", "chassis.id", "chassis_id", "enclosure", "pdu",
}

// together is within what time nodes of one place fall silent, beside what lies between two of their signs.
const together = int64(10 * time.Second)

// signs are when a node was heard of by its own word.
type signs struct {
	at     []int64 // in order
	last   *correlator.Event
	places []string
}

// silentPlace needs a node that went silent, at least one other of the same place that did so with it, none there that goes on,
// and at least two elsewhere that do: with fewer it may be what collects their telemetry.
func silentPlace(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Node == "" {
		return nil
	}
	spoke := int64(0)
	for _, layer := range []string{semconv.LayerNode, semconv.LayerNodeAgent} {
		if e := c.LastOf(layer, t.Node, t.From-recently, t.At); e != nil {
			spoke = max(spoke, e.At)
		}
	}
	if spoke == 0 || t.At-spoke < int64(time.Minute) {
		return nil
	}
	nodes := heardOf(c, t)
	own := nodes[t.Node]
	if own == nil || len(own.places) == 0 {
		return nil
	}
	since, silent := own.silent(t.At)
	if !silent || since < t.From-recently {
		return nil
	}
	for _, where := range own.places {
		var with, elsewhere []*correlator.Event
		goesOn := false
		for name, other := range nodes {
			switch last, quiet := other.silent(t.At); {
			case name == t.Node:
			case !slices.Contains(other.places, where):
				if other.after(since + own.patience()) {
					elsewhere = append(elsewhere, other.last)
				}
			case quiet && max(last-since, since-last) <= together+max(own.pause(), other.pause()):
				with = append(with, other.last)
			case other.after(since + together): // it goes on, or did for a while
				goesOn = true
			}
		}
		if goesOn || len(with) == 0 || len(elsewhere) < 2 {
			continue
		}
		slices.SortFunc(with, correlator.CompareEvents)
		slices.SortFunc(elsewhere, correlator.CompareEvents)
		records := append([]*correlator.Event{own.last}, with[:min(len(with), 4)]...)
		records = append(records, t.Cites...)
		records = append(records, elsewhere[:2]...)
		_, name, _ := strings.Cut(where, "=")
		return []correlator.Evidence{{
			Weight: correlator.Telling, Directness: correlator.Caller, Onset: since, Records: records,
			Summary: fmt.Sprintf("node %s and %d more of %s went silent together, last heard of at %s, while nodes elsewhere go on", t.Node, len(with), name, correlator.Time(since).Milli()),
		}}
	}
	return nil
}

// heardOf are the nodes' own signs around a trouble.
func heardOf(c *correlator.Case, t *correlator.Trouble) map[string]*signs {
	out := map[string]*signs{}
	look := func(e *correlator.Event) {
		if e.Node == "" {
			return
		}
		one := out[e.Node]
		if one == nil {
			one = &signs{}
			out[e.Node] = one
		}
		one.at, one.last = append(one.at, e.At), e
		for _, key := range places {
			if v := e.Attr(key); v != "" && !slices.Contains(one.places, key+"="+v) {
				one.places = append(one.places, key+"="+v)
			}
		}
	}
	from := t.From - 3*recently
	c.EachIn(semconv.LayerNode, from, t.At+1, look)
	c.EachIn(semconv.LayerNodeAgent, from, t.At+1, look)
	for _, one := range out {
		slices.Sort(one.at)
		slices.SortFunc(one.places, strings.Compare)
	}
	return out
}

// silent says since when a node has said nothing at a time, if that is longer than it ever paused.
func (s *signs) silent(at int64) (since int64, silent bool) {
	last := s.at[len(s.at)-1]
	return last, at-last > s.patience()
}

// patience is how long a node may say nothing before that is silence.
func (s *signs) patience() int64 { return max(3*s.pause(), int64(time.Minute)) }

// pause is the longest time between two signs; ten seconds where there is one.
func (s *signs) pause() int64 {
	longest := together
	for i := 1; i < len(s.at); i++ {
		longest = max(longest, s.at[i]-s.at[i-1])
	}
	return longest
}

// after says whether there was a sign after a time.
func (s *signs) after(at int64) bool { return s.at[len(s.at)-1] > at }
