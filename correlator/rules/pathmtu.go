package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// pathMTU finds ways on which small packets pass and large ones do not.
func pathMTU() []correlator.Rule {
	return []correlator.Rule{{
		ID: "network.mtu", Layer: semconv.LayerNetwork, Mechanism: "mtu",
		Looks:      "a probe of the step's machine whose small packets pass and whose large ones are all lost (RFC 4821)",
		NextCheck:  "the MTU of every port and tunnel between the two",
		SafeAction: "set one MTU on the whole way; the services at its ends need nothing",
		Find:       largeLost,
	}}
}

// probedSize finds the size of a probe's packets, as ping and its kin write it.
var probedSize = regexp.MustCompile(`(?:\bsize[= ]|\bsizes? |-s |\bpayload[= ]|\bpacketsize[= ]|\bbytes=|\bat |\bdf )\s*(\d{3,5})\b`)

// What a probe says of packets that all came, or of which none did.
var (
	cameWords = regexp.MustCompile(`\b0(?:\.0)?% (?:packet )?loss|\bloss[=: ]+0(?:\.0)?%|\bok\b|\bpass(?:es|ed)?\b`)
	lostWords = regexp.MustCompile(`\b100% (?:packet )?loss|\bloss[=: ]+100%|\b0 received|\b0/\d+|\blost\b|message too long|frag(?:mentation)? needed`)
	counted   = regexp.MustCompile(`\b(\d+)/(\d+)\b`)
)

func largeLost(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	least, most := 0, 0 // that was lost, that came
	var lost, came []*correlator.Event
	c.Each(t.From-int64(time.Hour), t.At+recently, func(e *correlator.Event) {
		if e.IsEvent() || e.Party() != semconv.LayerNetwork && e.Layer != semconv.LayerNetwork || !c.Own(e, t) && !c.Mentions(e.Attr(semconv.ServerAddress)) {
			return
		}
		for part := range strings.SplitSeq(e.Text, ";") {
			m := probedSize.FindStringSubmatch(part)
			if m == nil {
				continue
			}
			size, _ := strconv.Atoi(m[1])
			switch {
			case lostWords.MatchString(part):
				if least == 0 || size < least {
					least = size
				}
				lost = append(lost, e)
			case cameWords.MatchString(part) || allCame(part):
				most = max(most, size)
				came = append(came, e)
			}
		}
	})
	if least == 0 || most == 0 || most >= least {
		return nil
	}
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: lost[0].At}
	ev.Records = slices.Concat(lost[:min(len(lost), ownWords)], came[:min(len(came), 2)])
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Records = slices.Compact(ev.Records)
	ev.Summary = "packets of " + strconv.Itoa(most) + " bytes pass, and those of " + strconv.Itoa(least) + " are lost" + quote(lost[0])
	return []correlator.Evidence{ev}
}

// allCame says whether as many packets came as were sent.
func allCame(text string) bool {
	m := counted.FindStringSubmatch(text)
	return m != nil && m[1] == m[2]
}
