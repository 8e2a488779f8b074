package rules

import (
	"math"
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

// probedHost finds who is probed, where ping's arguments are told in its order: "-s 1472 host: 3 transmitted".
var probedHost = regexp.MustCompile(`^ ([a-z0-9][a-z0-9.-]*): `)

// fromTo finds between whom a part of a probe's text is: "leaf1->store".
var fromTo = regexp.MustCompile(`[a-z0-9][a-z0-9._-]*->[a-z0-9][a-z0-9._-]*`)

// probedEnds find between whom a probe tells it was, where it names them.
var probedEnds = regexp.MustCompile(`\b(?:source|src|from|target|dst|dest)=[a-z0-9][a-z0-9.:/-]*`)

// bySize finds what became of packets of one size, where a probe tells of several in a row: "64b loss 0% 8972b(df) loss 100%".
var bySize = regexp.MustCompile(` (\d{2,5})b(?:\(df\))? loss (\d+)%`)

// lossAfter finds the same where the loss stands behind the share: "ping 56B 0% loss; ping 8972B DF 100% loss".
var lossAfter = regexp.MustCompile(` (\d{2,5}) ?b(?:ytes)?(?: \(?df\)?)? (\d+)% (?:packet )?loss`)

// bytePackets finds the same where the size stands before the packets, and how many came back: "1500-byte packets 0 of 500 back".
var bytePackets = regexp.MustCompile(`\b(\d{2,5})-byte packets:? (\d+) of (\d+) (?:back|received|came|answered)`)

// bytesEach finds the same once more: "56 bytes ok; 8972 bytes DF: no reply 20/20".
var bytesEach = regexp.MustCompile(`(?:^|[;:,] |\d |icmp |ping )(\d{2,4}) bytes(?: \(?df(?:=1)?\)?)?:? (ok|no reply|no answer|lost|dropped|timed? ?out|\d+/\d+ received|\d+ of \d+\b)`)

// sizeOfTwo finds a size of two digits, pingedHost whom a part tells that it was that answered or did not.
var (
	sizeOfTwo  = regexp.MustCompile(`\bsize (\d\d)\b`)
	pingedHost = regexp.MustCompile(`\bping ([a-z0-9][a-z0-9.-]*) size`)
)

// inParts are the parts of a probe's text, each of one size.
func inParts(text string) []string {
	text = strings.ReplaceAll(text, ", -s ", "; -s ")
	text = sizeOfTwo.ReplaceAllString(text, "size 0$1")
	text = bytesEach.ReplaceAllString(text, "; size=0$1 $2") // two digits are read as three
	text = bySize.ReplaceAllString(text, "; size=0$1 loss $2%")
	text = lossAfter.ReplaceAllString(text, "; size=0$1 loss $2%")
	return strings.Split(bytePackets.ReplaceAllString(text, "size=$1 $3/$2 received"), ";")
}

// What a probe says of packets that all came, or of which none did.
var (
	cameWords = regexp.MustCompile(`\b0(?:\.0)?% (?:packet )?loss|\bloss[=: ]+0(?:\.0)?%|\bok\b|\bpass(?:es|ed)?\b`)
	lostWords = regexp.MustCompile(`\b\d+/0 received|\b100% (?:packet )?loss|\bloss[=: ]+100%|\b0 received|\b0/\d+|\b0 of [1-9]|\blost\b|\bno (?:reply|answer)\b|\bdropped\b|\btimed? ?out\b|message too long|frag(?:mentation)? needed`)
	counted   = regexp.MustCompile(`\b(\d+)(?:/| of | (?:packets )?(?:sent|transmitted), )(\d+)(?: received)?\b`)
)

// lostOf finds how many packets of how many were lost: "20/20 lost".
var lostOf = regexp.MustCompile(`\b(\d+)(?:/| of )\d+ (?:packets )?lost\b`)

// way is what probes of several sizes told of one way.
type way struct {
	least, most int // that was lost, that came
	lost, came  []*correlator.Event
	own         bool // it is the step's machine's, or an address that its records name
}

func largeLost(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	ways := map[string]*way{}
	var order []string
	for _, e := range probes(c) {
		if e.At < t.From-int64(time.Hour) || e.At > t.At+recently {
			continue // what a probe found holds until the next one
		}
		asked := c.Mentions(e.Attr(semconv.ServerAddress))
		own := c.Own(e, t) || asked || slices.ContainsFunc(c.Lifecycle.Nodes, func(node string) bool { return correlator.Names(e, node) })
		if !own && e.Node != "" || !asked && !correlator.EveryReaderHas(e) && !closeTo(t, e) {
			continue
		}
		key, before := "", ""
		for _, part := range inParts(e.Text) {
			m := probedSize.FindStringSubmatchIndex(part)
			if m == nil {
				before = part
				continue
			}
			size, _ := strconv.Atoi(part[m[2]:m[3]])
			if to := pingedHost.FindStringSubmatch(part); to != nil {
				key = to[1] // the parts that follow are of it
			} else if ends := fromTo.FindString(part[:m[0]]); ends != "" {
				key = ends
			}
			if key == "" {
				key = before + part[:m[0]]
				if !strings.Contains(e.Text, strings.ToLower(e.Node)) {
					key += " " + e.Node
				} // of one record's parts the first names the way
				for _, end := range probedEnds.FindAllString(e.Text, 4) {
					key += " " + end
				}
				if to := probedHost.FindStringSubmatch(part[m[3]:]); to != nil {
					key += " " + to[1]
				}
			}
			w := ways[key]
			if w == nil {
				w = &way{own: own}
				ways[key] = w
				order = append(order, key)
			}
			if of := lostOf.FindStringSubmatch(part); of != nil {
				part = map[bool]string{true: "ok", false: "lost"}[of[1] == "0"]
			}
			switch {
			case lostWords.MatchString(part):
				if w.least == 0 || size < w.least {
					w.least = size
				}
				if w.most >= size { // they came before
					w.most, w.came = 0, nil
				}
				w.lost = append(w.lost, e)
			case cameWords.MatchString(part) || allCame(part):
				w.most = max(w.most, size)
				w.came = append(w.came, e)
			}
		}
	}
	for _, key := range order {
		w := ways[key]
		if w.least == 0 || w.most == 0 || w.most >= w.least || !w.own && !brokeOff(c, t) {
			continue
		}
		ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself, Certain: w.own, Onset: w.lost[0].At}
		ev.Records = slices.Concat(w.lost[:min(len(w.lost), ownWords)], w.came[:min(len(w.came), 2)])
		slices.SortStableFunc(ev.Records, correlator.CompareEvents)
		ev.Records = slices.Compact(ev.Records)
		if began := stoodStill(c, t); began != nil && ev.Onset > t.At {
			ev.Onset, ev.Records = began.At, append([]*correlator.Event{began}, ev.Records...) // a way does not become narrow by being probed
		}
		if began := cameInPart(c, t); began != nil && began.At < ev.Onset {
			ev.Onset, ev.Records = began.At, append([]*correlator.Event{began}, ev.Records...)
		}
		ev.Summary = "packets of " + strconv.Itoa(w.most) + " bytes pass, and those of " + strconv.Itoa(w.least) + " are lost" + quote(w.lost[0])
		return []correlator.Evidence{ev}
	}
	return nil
}

// probes are, in order of time, the plain records of a case that tell of a network and of a size.
func probes(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		c.Each(math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			if !e.IsEvent() && (e.Layer == semconv.LayerNetwork || e.Party() == semconv.LayerNetwork) && (probedSize.MatchString(e.Text) || bySize.MatchString(e.Text) || lossAfter.MatchString(e.Text) || bytesEach.MatchString(e.Text) || strings.Contains(e.Text, "-byte packets") && bytePackets.MatchString(e.Text)) {
				out = append(out, e)
			}
		})
		return out
	}).([]*correlator.Event)
}

// cameInPart is the first word of the step's own machine that an answer began and did not come whole, nil where there is none.
func cameInPart(c *correlator.Case, t *correlator.Trouble) *correlator.Event {
	for _, e := range c.Failures(t) {
		if !e.IsEvent() && e.Layer == semconv.LayerNodeAgent && c.Own(e, t) && holds(e.Text, []string{"headers received", "body bytes", "unexpected eof", "while reading body", "partial content", "bytes missing"}) {
			return e
		}
	}
	return nil
}

// brokeOff says whether something that the step transferred stood still or broke off.
func brokeOff(c *correlator.Case, t *correlator.Trouble) bool { return stoodStill(c, t) != nil }

// stoodStill is the first word of something that the step transferred and that stood still or broke off, nil where there is none.
func stoodStill(c *correlator.Case, t *correlator.Trouble) *correlator.Event {
	for _, e := range c.Failures(t) {
		if !e.IsEvent() && (holds(e.Text, tooLate) || brokenOff.Any(e.Text) || holds(e.Text, []string{"download", "headers came", "body 0 bytes", "stalled", "0 bytes in "})) {
			return e
		}
	}
	return nil
}

// allCame says whether as many packets came as were sent.
func allCame(text string) bool {
	m := counted.FindStringSubmatch(text)
	return m != nil && m[1] == m[2]
}
