package rules

import (
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// staleAddress finds callers that dial an address which a name no longer has.
func staleAddress() []correlator.Rule {
	return []correlator.Rule{{
		ID: "caller.stale_address", Mechanism: "stale_address",
		Looks:      "a dial that fails at one address of a name, which resolves to another one for others at that time or was given another one before",
		NextCheck:  "how long the caller keeps an address that it looked up once",
		SafeAction: "restart the caller; the network and the called need nothing",
		Find:       dialsOldAddress,
	}}
}

// dialledAs finds a name with the address that it was dialled at (Java's InetSocketAddress, curl, Python).
var dialledAs = regexp.MustCompile(`([a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+)[/ (]+(\d{1,3}(?:\.\d{1,3}){3})\b`)

// resolvesTo finds a name with the address that it has (systemd-resolved, dig, programs that tell so).
var resolvesTo = regexp.MustCompile(`([a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+)\.?(?: in)?(?: a| resolved to| ->| has address| is at)+ (\d{1,3}(?:\.\d{1,3}){3})\b`)

func dialsOldAddress(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	old := map[string]string{}
	var failed []*correlator.Event
	for _, e := range c.Failures(t) {
		if e.IsEvent() || !strings.Contains(e.Text, "timed out") && !turnedDown(e) && !strings.Contains(e.Text, "unreachable") {
			continue
		}
		if m := dialledAs.FindStringSubmatch(e.Text); m != nil && len(m[1]) >= longName && (len(failed) == 0 || failed[0].Party() == e.Party()) {
			old[m[1]] = m[2]
			failed = append(failed, e)
		}
	}
	if len(failed) == 0 || failed[0].Party() == "" {
		return sendsToOldAddress(c, t)
	}
	var now *correlator.Event
	address := ""
	c.Each(failed[0].At-int64(changed), t.At+int64(time.Minute), func(e *correlator.Event) {
		if e.IsEvent() || e.Failed() {
			return
		}
		if m := resolvesTo.FindStringSubmatch(e.Text); m != nil && old[m[1]] != "" {
			now, address = e, m[2]
		}
	})
	if now == nil || address == old[dialledAs.FindStringSubmatch(failed[0].Text)[1]] {
		return nil
	}
	party := failed[0].Party()
	return []correlator.Evidence{{
		Rule: party + ".stale_address", Layer: party, Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: failed[0].At,
		Records: append(failed[:min(len(failed), ownWords):min(len(failed), ownWords)], now),
		Summary: "the caller dials an address that the name no longer has: it is " + address + quote(failed[0]),
	}}
}

var (
	// movedTo finds that a name was given another address, as who keeps the names tells it: "api.example.com A 10.0.0.9 -> 10.0.0.40".
	movedTo = regexp.MustCompile(`\b([a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)+)\.? (?:in )?a+ (\d{1,3}(?:\.\d{1,3}){3}) ?-> ?(\d{1,3}(?:\.\d{1,3}){3})\b`)
	// firstPacket finds to which address a connection's first packet was sent (tcpdump).
	firstPacket = regexp.MustCompile(`> (\d{1,3}(?:\.\d{1,3}){3})\.\d+: flags \[s\],`)
)

// sendsToOldAddress needs a name that was given another address, two of a connection's first packets to the old one, as a capture on the step's machine has
// them, after that, and a party of that machine's that fails meanwhile.
func sendsToOldAddress(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	moves := movesOfNames(c)
	if len(moves) == 0 {
		return nil
	}
	var packets []*correlator.Event
	to := ""
	c.EachIn(semconv.LayerNode, t.From-recently, t.At, func(e *correlator.Event) {
		if e.IsEvent() || !strings.Contains(e.Text, "flags [s]") || !c.Own(e, t) {
			return
		}
		if m := firstPacket.FindStringSubmatch(e.Text); m != nil && (to == "" || to == m[1]) {
			packets, to = append(packets, e), m[1]
		}
	})
	if len(packets) < 2 {
		return nil
	}
	var moved, failed *correlator.Event
	for _, e := range moves {
		if e.At >= packets[0].At-int64(changed) && e.At <= packets[0].At && movedTo.FindStringSubmatch(e.Text)[2] == to {
			moved = e
		}
	}
	for _, e := range c.Failures(t) {
		if failed == nil && !e.IsEvent() && e.Party() == semconv.LayerNodeAgent && c.Own(e, t) {
			failed = e
		}
	}
	if moved == nil || failed == nil {
		return nil
	}
	party := failed.Party()
	return []correlator.Evidence{{
		Rule: party + ".stale_address", Layer: party, Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: min(failed.At, packets[0].At),
		Records: inOrder(append([]*correlator.Event{moved, failed}, packets[:min(len(packets), ownWords)]...)...),
		Summary: "the caller sends to " + to + ", which the name no longer has" + quote(failed),
	}}
}

// movesOfNames lists what the network tells of names that were given another address.
func movesOfNames(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		c.EachIn(semconv.LayerNetwork, math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			if !e.IsEvent() && strings.Contains(e.Text, "->") && movedTo.MatchString(e.Text) {
				out = append(out, e)
			}
		})
		return out
	}).([]*correlator.Event)
}
