package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// filtered finds packets of a step's that a packet filter threw away.
func filtered() []correlator.Rule {
	return []correlator.Rule{{
		ID: "network.filtered", Layer: semconv.LayerNetwork, Mechanism: "policy",
		Looks:      "a packet filter's own line, again and again while a step fails, on packets that it threw away and whose sender or receiver the step's own records name, or which were for where the step dials in vain",
		NextCheck:  "which rule of that filter it was, and since when it is there",
		SafeAction: "let those packets pass; both ends need nothing",
		Find:       filteredOut,
	}, {
		ID: "network.several_ends", Layer: semconv.LayerNetwork, Mechanism: "timeout",
		Looks:      "dials of one caller that nobody answered, at two addresses or more that have no network in common, and a call of his that went well another way",
		NextCheck:  "what between the caller and the outside lets which ports pass",
		SafeAction: "let them pass, or have the caller take the way that works",
		Find:       noneOfSeveral,
	}}
}

var (
	// filterLine finds the addresses in a line of netfilter's LOG target.
	filterLine = regexp.MustCompile(`\bin=\S* .*?\bsrc=(\d{1,3}(?:\.\d{1,3}){3})\b.*?\bdst=(\d{1,3}(?:\.\d{1,3}){3})\b.*?\bproto=`)
	// deniedLine finds the address that a packet was for which an access list did not let pass (Cisco's and Arista's IPACCESS, Junos' RT_FLOW_SESSION_DENY).
	deniedLine = regexp.MustCompile(`\bdenied (?:tcp |udp )?\d{1,3}(?:\.\d{1,3}){3}[(/:]\d+\)? ?-> ?(\d{1,3}(?:\.\d{1,3}){3})[(/:](\d+)`)
	// dialTimedOut finds the address of a dial that nobody answered (Go's net).
	dialTimedOut = regexp.MustCompile(`\bdial (?:tcp|udp) (\d{1,3}(?:\.\d{1,3}){2})\.\d{1,3}:\d+: i/o timeout`)
)

// filteredOut needs two such lines; a firewall tells of strangers' packets all day long.
func filteredOut(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var records []*correlator.Event
	c.Each(t.From, t.At, func(e *correlator.Event) {
		if e.IsEvent() || !e.Failed() || !strings.Contains(e.Text, "src=") || !holds(e.Text, filterWords) {
			return
		}
		m := filterLine.FindStringSubmatch(strings.Replace(e.Text, "outin=", " in=", 1))
		if m != nil && (c.Mentions(m[1]) || c.Mentions(m[2]) || len(c.Lifecycle.Nodes) > 0 && correlator.Names(e, c.Lifecycle.Nodes[0]) || mentionedBeside(c, t, m[2])) {
			records = append(records, e)
		}
	})
	if len(records) < 2 {
		records = deniedByList(c, t)
	}
	if len(records) < 2 {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: records[0].At, Records: records[:min(len(records), ownWords)],
		Summary: "a packet filter threw the step's packets away" + quote(records[0]),
	}}
}

// deniedByList lists what the network's access lists tell, at whatever level, of packets to a port that the step dialled in vain; nil where none of them was for
// the very address.
func deniedByList(c *correlator.Case, t *correlator.Trouble) (records []*correlator.Event) {
	var dials []*correlator.Event
	for _, e := range c.Failures(t) {
		if !e.IsEvent() && (e.Layer == semconv.LayerNodeAgent || c.Own(e, t)) && holds(e.Text, tooLate) {
			dials = append(dials, e)
		}
	}
	if len(dials) == 0 {
		return nil
	}
	dialled := func(to string) bool {
		return slices.ContainsFunc(dials, func(e *correlator.Event) bool { return namedIn(e.Text, to) })
	}
	exact, port := false, ""
	c.EachIn(semconv.LayerNetwork, t.From-recently, t.At+recently, func(e *correlator.Event) {
		if e.IsEvent() || !strings.Contains(e.Text, "denied ") || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
			return
		}
		m := deniedLine.FindStringSubmatch(e.Text)
		if m == nil || port != "" && m[2] != port {
			return
		}
		if dialled(m[1] + ":" + m[2]) {
			exact, port = true, m[2]
		}
		if port != "" {
			records = append(records, e)
		}
	})
	if !exact {
		return nil
	}
	return records
}

// filterWords are those of a filter that lets a packet not pass.
var filterWords = []string{"reject", "drop", "block", "denied", "deny", "discard"}

// mentionedBeside says whether somebody who works on the step's machine names an address.
func mentionedBeside(c *correlator.Case, t *correlator.Trouble, address string) (is bool) {
	c.EachIn(semconv.LayerProvider, t.From, t.At, func(e *correlator.Event) {
		is = is || !e.IsEvent() && c.Own(e, t) && strings.Contains(e.Text, address)
	})
	return is
}

// noneOfSeveral leaves out agents, whose own machine may be cut off.
func noneOfSeveral(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ends := map[string]bool{}
	var records []*correlator.Event
	for _, e := range c.Failures(t) {
		if e.IsEvent() || e.Allocation != c.ID || e.Layer == semconv.LayerNodeAgent || e.Layer == semconv.LayerNode || !strings.Contains(e.Text, "i/o timeout") {
			continue
		}
		if m := dialTimedOut.FindStringSubmatch(e.Text); m != nil && (len(records) == 0 || records[0].Service == e.Service) {
			if !ends[m[1]] {
				records = append(records, e)
			}
			ends[m[1]] = true
		}
	}
	if len(ends) < 2 {
		return nil
	}
	well := false
	for _, e := range c.Events {
		well = well || e.Service == records[0].Service && e.At > records[0].At && !e.Failed() && !e.IsEvent() && strings.Contains(e.Text, "200")
	}
	if !well {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Generic, Directness: correlator.Itself, Onset: records[0].At, Records: records[:min(len(records), ownWords)],
		Summary: "none of several addresses answers, and another way works" + quote(records[0]),
	}}
}
