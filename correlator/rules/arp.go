package rules

import (
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// twoAnswers finds addresses for which two cards answer.
func twoAnswers() []correlator.Rule {
	return []correlator.Rule{{
		ID: "network.two_answers", Layer: semconv.LayerNetwork, Mechanism: "address_conflict",
		Looks:      "an address that the step's own records dial, and probes that hear it answered from two hardware addresses",
		NextCheck:  "which two machines hold the address, and who was to give it up",
		SafeAction: "take the address off the one that is not its holder; callers need nothing",
		Find:       answeredByTwo,
	}}
}

// arpAnswer finds from which card an address is answered (tcpdump, arping, arpwatch).
var arpAnswer = regexp.MustCompile(`\b(\d{1,3}(?:\.\d{1,3}){3})\b.{0,16}?\b(?:is-at|at|is at|lladdr) ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})\b`)

func answeredByTwo(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	card := map[string]*correlator.Event{}
	from := map[string]string{}
	var found []correlator.Evidence
	look := func(e *correlator.Event) {
		if e.IsEvent() || found != nil || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
			return
		}
		if m := flipFlop.FindStringSubmatch(e.Text); m != nil && dialsTo(c, t, m[1]) != nil {
			found = []correlator.Evidence{{
				Weight: correlator.Specific, Directness: correlator.Itself, Onset: e.At, Records: inOrder(e, dialsTo(c, t, m[1])), Summary: "two cards answer for " + m[1] + quote(e),
			}}
			return
		}
		if strings.Contains(e.Text, "reply from") {
			found = repliesOfTwo(c, t, e)
			return
		}
		m := arpAnswer.FindStringSubmatch(e.Text)
		switch {
		case m == nil:
		case card[m[1]] == nil:
			card[m[1]], from[m[1]] = e, m[2]
		case from[m[1]] != m[2] && e.At-card[m[1]].At <= recently && c.Mentions(m[1]):
			found = []correlator.Evidence{{
				Weight: correlator.Specific, Directness: correlator.Itself, Onset: card[m[1]].At, Records: inOrder(card[m[1]], e),
				Summary: "two cards answer for " + m[1] + quote(e),
			}}
		}
	}
	c.EachIn(semconv.LayerNetwork, t.From-recently, t.At+recently, look)
	for _, e := range ofOtherMachines(c) {
		if e.At >= t.From-recently && e.At <= t.At && found == nil && strings.Contains(e.Text, "reply from") {
			found = repliesOfTwo(c, t, e)
		}
	}
	return found
}

// arpingReply finds who answered arping.
var arpingReply = regexp.MustCompile(`\breply from (\d{1,3}(?:\.\d{1,3}){3}) \[((?:[0-9a-f]{2}:){5}[0-9a-f]{2})\]`)

// repliesOfTwo finds that an arping of an address that the step's own records name was answered by two cards.
func repliesOfTwo(c *correlator.Case, t *correlator.Trouble, e *correlator.Event) []correlator.Evidence {
	cards := map[string]bool{}
	address := ""
	for _, m := range arpingReply.FindAllStringSubmatch(e.Text, 8) {
		address = m[1]
		cards[m[2]] = true
	}
	if len(cards) < 2 || dialsTo(c, t, address) == nil {
		return nil
	}
	c.Borrow(e)
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Onset: e.At, Records: inOrder(e, dialsTo(c, t, address)), Summary: "two cards answer for " + address + quote(e),
	}}
}

// flipFlop finds an address that went from one card to another (arpwatch).
var flipFlop = regexp.MustCompile(`\bflip flop (\d{1,3}(?:\.\d{1,3}){3}) (?:[0-9a-f]{1,2}:){5}[0-9a-f]{1,2} \(`)

// dialsTo is a failed call of the step's own to an address, nil where none went there.
func dialsTo(c *correlator.Case, t *correlator.Trouble, address string) *correlator.Event {
	for _, e := range c.Failures(t) {
		if !e.IsEvent() && strings.Contains(e.Text, address) {
			return e
		}
	}
	return nil
}
