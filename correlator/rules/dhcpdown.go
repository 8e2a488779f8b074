package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// dhcpDown finds servers and relays of addresses that do not run while machines hear no offer.
func dhcpDown() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.dhcp_down", Mechanism: "exit",
		Looks:      "a machine that hears no offer of an address, and a provider's or a switch's own word, at any severity, that its DHCP server or relay ended or does not start",
		NextCheck:  "its own log from its last start, and what was changed of its configuration before",
		SafeAction: "bring it up again, then boot the machine once more; the machine needs nothing",
		Find:       servesNoAddresses,
	}}
}

// Words of a server or a relay of addresses, of its end, and of its start (systemd, Docker, supervisord, MAAS).
var (
	givesAddresses = []string{"dhcp", "dnsmasq"}
	isDown         = []string{"failed to start", "'dead'", " is dead", "(dead)", "exited", "not running", "has stopped", "was stopped", "crashed", "restart limit"}
	isUpAgain      = []string{"entered running", "is running", "started successfully", "listening on"}
)

func servesNoAddresses(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind == correlator.RequestTrouble || c.Profile.FirstFailure() {
		return nil
	}
	var unheard []*correlator.Event
	for _, e := range onTheme(c, themeUnoffered) {
		if e.At >= t.From-skewOfClocks && e.At <= t.At {
			unheard = append(unheard, e)
		}
	}
	if len(unheard) == 0 {
		return nil
	}
	var down *correlator.Event
	for _, layer := range []string{semconv.LayerProvider, semconv.LayerNetwork} {
		c.EachIn(layer, t.From-recently, unheard[len(unheard)-1].At+moment, func(e *correlator.Event) {
			if e.IsEvent() || !holds(e.Text, givesAddresses) || on(e, themeUnoffered) || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
				return
			}
			switch {
			case holds(e.Text, isDown):
				down = e
			case down != nil && down.Service == e.Service && holds(e.Text, isUpAgain) && e.At < unheard[0].At:
				down = nil
			}
		})
	}
	if down == nil || strings.Contains(down.Text, "status=0") {
		return nil
	}
	party := down.Party()
	return []correlator.Evidence{{
		Rule: party + ".dhcp_down", Layer: party, Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: min(down.At, unheard[0].At),
		Records: inOrder(append(slices.Clone(unheard[:min(len(unheard), ownWords)]), down)...),
		Summary: "the machine hears no offer of an address, and who gives addresses does not run" + quote(down),
	}}
}
