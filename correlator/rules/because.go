package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// because follows the party that the step's own records blame to the party that this one blames, where that one's trouble is on
// record, too.
func because() []correlator.Rule {
	return []correlator.Rule{{
		ID: "because.of", Looks: "a party that the step's own records blame, which itself could not use another one, whose own trouble is on record",
		NextCheck:  "the last of the parties that blame one another",
		SafeAction: "mend the last one; the others need nothing",
		Find:       deeper,
	}}
}

// chained is the longest way from one party to the next that is followed.
const chained = 3

func deeper(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	all := statements(c, t)
	blamed := map[string]*correlator.Event{} // by the step's own records: the callee, or who complains of itself
	for _, s := range all {
		if !c.Own(s.event, t) {
			continue
		}
		for _, l := range []string{s.about, s.party} {
			if l != "" && l != semconv.LayerClient && blamed[l] == nil && (l == s.about || !s.echo) {
				blamed[l] = s.event
			}
		}
	}
	var out []correlator.Evidence
	for _, from := range sortedKeys(blamed) {
		chain := []*correlator.Event{blamed[from]}
		at := from
		for range chained {
			next, told := whyOf(all, at, chain)
			if next == "" || blamed[next] != nil {
				break
			}
			chain, at = append(chain, told), next
		}
		if at == from {
			continue
		}
		own := ownTrouble(c, all, at)
		if len(own) == 0 && at == semconv.LayerNetwork {
			own = cutOffFromSeveral(all, chain[len(chain)-1].Party())
		}
		if len(own) == 0 {
			continue
		}
		ev := correlator.Evidence{
			Rule: at + ".because", Layer: at, Mechanism: "error", Weight: correlator.Specific, Directness: correlator.Itself, Onset: own[0].At,
			Records: slices.Concat(own, chain), Summary: at + " has trouble of its own" + quote(witness(own)) + ", " + from + " depends on it" + quote(chain[len(chain)-1]),
		}
		if s := hinted(own[0]); s != nil {
			ev.Mechanism = s.Mechanism
		}
		slices.SortStableFunc(ev.Records, correlator.CompareEvents)
		ev.Records = slices.Compact(ev.Records)
		out = append(out, ev)
	}
	return out
}

// whyOf gives the party that one says it could not use, before or while the step's own records blame it.
func whyOf(all []statement, party string, chain []*correlator.Event) (next string, told *correlator.Event) {
	until := chain[len(chain)-1].At + moment
	for _, s := range all {
		if s.event.At > until || s.party != party || slices.Contains(chain, s.event) {
			continue
		}
		if s.about != "" && s.about != party && s.about != semconv.LayerClient {
			return s.about, s.event
		}
		if holds(s.event.Text, cutOff) {
			return semconv.LayerNetwork, s.event
		}
	}
	return "", nil
}

// cutOff are the words of a member of a cluster that hears no more of the others.
var cutOff = []string{"connection to peer", "no messages seen", "lost contact", "peer is unreachable", "partitioned from", "is partitioned", "connecttimeouterror", "lost connection to peer", "failed to reach peer", "no heartbeat from peer", "node unreachable"}

// ownTrouble are the records in which a party tells of trouble in itself, or a watcher tells it of it. An edge (a certificate, the
// network) has no voice: what names it as the cause is enough.
func ownTrouble(c *correlator.Case, all []statement, party string) []*correlator.Event {
	var out []*correlator.Event
	for _, s := range all {
		sig := hinted(s.event)
		switch {
		case sig != nil && sig.owner(c, s.event) == party && (s.party == party || party == semconv.LayerCert):
		case s.party == party && s.about == "" && !s.echo:
		case party == semconv.LayerNetwork && s.party == semconv.LayerNetwork && holds(s.event.Text, []string{"100% packet loss", "100% loss", "unreachable", "session_state_down", "down"}):
		default:
			continue
		}
		out = append(out, s.event)
	}
	return out
}

// cutOffFromSeveral are the records in which one party tells that it cannot reach several others: what they have in common is the
// way to them.
func cutOffFromSeveral(all []statement, party string) []*correlator.Event {
	hosts := map[string]bool{}
	var out []*correlator.Event
	for _, s := range all {
		if s.party != party || !holds(s.event.Text, append([]string{"timed out", "timeout", "unreachable"}, cutOff...)) {
			continue
		}
		for _, m := range dialled.FindAllStringSubmatch(s.event.Text, 2) {
			if host := m[1] + m[3]; strings.ContainsAny(host, ".-") && !hosts[host] {
				hosts[host] = true
				out = append(out, s.event)
			}
		}
	}
	if len(hosts) < 2 {
		return nil
	}
	return slices.Compact(out)
}

func sortedKeys(m map[string]*correlator.Event) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
