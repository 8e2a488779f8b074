package rules

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// testimony weighs who says what of whom, where no words name a cause: the party that tells of trouble in itself, that
// others could not use, and that blames nobody else, owns it.
func testimony() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.own_word", Looks: "the one party that tells of trouble in itself, or is told of by who watches it, and blames nobody else",
		NextCheck:  "that party's own log from its first complaint on",
		SafeAction: "look before anything is restarted; who called it needs nothing",
		Find:       ownWord,
	}}
}

// testified is what was said of one party around a trouble.
type testified struct {
	layer             string
	own               []statement     // by itself, or by who watches it
	by                map[string]bool // layers that could not use it
	blames            map[string]bool // layers that it could not use
	told              []*correlator.Event
	answers           int // how often it is told to have answered with an error of its own
	onset             int64
	score             int
	severe, itsOwnIDs bool
}

// The marks that a party gets; sure is what makes its claim more than a guess.
const (
	markSevere, markOwn, markBlamed, markOwes, markFirst = 2, 1, 2, 1, 1

	enough, ahead       = 3, 1
	enoughSure, farther = 5, 2
)

func ownWord(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() || t.Kind == correlator.OrphanTrouble {
		return nil
	}
	parties := testify(c, t)
	if len(parties) == 0 {
		return nil
	}
	weigh(t, parties)
	slices.SortStableFunc(parties, func(a, b *testified) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.onset, b.onset), cmp.Compare(a.layer, b.layer))
	})
	first, second := parties[0], 0
	if len(parties) > 1 {
		second = parties[1].score
	}
	if len(first.own) == 0 && len(first.by) < 2 && first.answers < keeps || first.score < enough || first.score < second+ahead {
		return nil
	}
	unread := first.layer == semconv.LayerProvider && len(first.by) == 0 && !slices.ContainsFunc(first.own, func(s statement) bool { return servedItself(s.event) })
	if unread && !saidTwice(c, t, first.own) {
		return nil // it works on machines, over networks and with images of others: what it tells of itself once is as often theirs (docs/adr/0019)
	}
	if first.layer == semconv.LayerWorkflow && len(first.by) == 0 && !slices.ContainsFunc(first.own, func(s statement) bool { return !holds(s.event.Text, ofAnotherPart) }) {
		return nil // it tells that something else did not answer, and in no words of a cause
	}
	ev := correlator.Evidence{
		Rule: first.layer + ".own_word", Layer: first.layer, Mechanism: "error", Weight: correlator.Slight, Directness: correlator.Caller, Onset: first.onset,
		Certain: first.score >= enoughSure && first.score >= second+farther, Unread: unread,
	}
	if len(first.by) == 0 && (first.layer == semconv.LayerWorkflow || first.layer == semconv.LayerProvider) {
		ev.Certain = false // it works through others, and what it tells of itself is as often theirs (ADR 19)
	}
	if ev.Certain {
		ev.Weight = correlator.Generic
	}
	ev.Records = append(ev.Records, first.told...)
	for _, s := range first.own {
		ev.Records = append(ev.Records, s.event)
		ev.Directness = correlator.Itself
	}
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Records = slices.Compact(ev.Records)
	said := ev.Records
	if len(first.own) > 0 {
		said = nil
		for _, s := range first.own {
			said = append(said, s.event)
		}
	}
	ev.Summary = first.layer + " tells of trouble in itself" + quote(witness(said))
	if !slices.ContainsFunc(said, func(e *correlator.Event) bool { return e.Layer == first.layer }) {
		ev.Summary = first.layer + " is in trouble, by the word of who watches it" + quote(witness(said))
	}
	if len(first.own) == 0 {
		ev.Summary = first.layer + " could not be used" + quote(witness(said))
	}
	return []correlator.Evidence{ev}
}

// ofAnotherPart are the words of who waited in vain for something that he watches or orders, and does not know why.
var ofAnotherPart = []string{": timeout", "healthcheck", "health check", "failed to run ", "insufficient ", "waits ", "not become ready", "not ready"}

// refusesCaller finds that somebody tells that he turned a call away.
var refusesCaller = regexp.MustCompile(`\b(?:refused|rejected|turned away|denied)\b[^.;]{0,20}\b4\d\d\b`)

// answersFailing finds that somebody was answered, and with an error of the called (RFC 9110, 15.6).
var answersFailing = regexp.MustCompile(`\b(?:http|status|code|error)\b[^0-9]{0,12}\b50[0-4]\b`)

// saidTwice says whether a party told of its trouble under the step's own identifiers twice, half a minute or more apart.
func saidTwice(c *correlator.Case, t *correlator.Trouble, own []statement) bool {
	var first *correlator.Event
	for _, s := range own {
		if !c.Own(s.event, t) {
			continue
		}
		if first == nil {
			first = s.event
		}
		if s.event.At-first.At >= int64(30*time.Second) {
			return true
		}
	}
	return false
}

// keeps is how often a party answers with an error of its own until that is its word against itself.
const keeps = 5

// testify sorts statements by the party that they are about.
func testify(c *correlator.Case, t *correlator.Trouble) []*testified {
	by := map[string]*testified{}
	var out []*testified
	of := func(layer string) *testified {
		if by[layer] == nil {
			by[layer] = &testified{layer: layer, by: map[string]bool{}, blames: map[string]bool{}}
			out = append(out, by[layer])
		}
		return by[layer]
	}
	said := statements(c, t)
	overcome := map[*signature]bool{} // what this allocation met as well, and got over
	for _, s := range said {
		if sig := hinted(s.event); sig != nil && madeGood(c, t, s.event) {
			overcome[sig] = true
		}
	}
	accused := slices.ContainsFunc(said, func(s statement) bool {
		return (s.party == semconv.LayerNode || s.party == semconv.LayerNetwork) && accusesFarEnd(s.event)
	})
	last := map[string]*correlator.Event{} // of what each party says of itself beside the step
	for _, s := range said {
		if s.about == "" && !s.echo {
			last[s.party] = s.event
		}
	}
	blamed := map[string]bool{}   // whom the step's own records blame
	repeated := map[string]bool{} // whose refusal they repeat, by a name that no catalogue knows
	for _, s := range said {
		blamed[s.about] = blamed[s.about] || c.Own(s.event, t)
		if s.about != "" && c.Own(s.event, t) && quotedStranger(c, s.event) == s.about {
			repeated[s.about] = true
		}
	}
	for _, s := range said {
		e := s.event
		if !c.Own(e, t) && s.about == "" && !blamed[s.party] && last[s.party] != nil && overBefore(c, t, []*correlator.Event{last[s.party]}) {
			continue // it was over long before
		}
		if sig := hinted(e); sig != nil && (overcome[sig] || sig.ID == "process.panic" && ofOtherRequest(c, t, e)) {
			continue // it got over it, or somebody else's request met it
		}
		if sig := hinted(e); sig != nil && sig.ID == "node.nic_down" && (cameBack(c, t, []*correlator.Event{e}) || farEndAccuses(c, []*correlator.Event{e}) || atOnce(c, t, sig, []*correlator.Event{e}) || switchFailed(c, []*correlator.Event{e})) {
			continue
		}
		if sig := hinted(e); sig != nil && sig.ID == "node.memory" && slices.ContainsFunc(said, func(o statement) bool { return ofOwnLimit(o.event) }) {
			continue // a process came to its own limit
		}
		if sig := hinted(e); sig != nil && sig.ID == "provider.addresses" && slices.ContainsFunc(c.Lifecycle.Nodes, func(node string) bool { return notHeardOf(c, t, node) }) {
			continue // its own machine never asked there
		}
		if sig := hinted(e); sig != nil && sig.ID == "network.resolver_port" && notAskedFor(c, t, []*correlator.Event{e}) {
			continue
		}
		if !c.Own(e, t) && s.about == "" && beforeTheNode(s.party) && vanished(c, t) {
			continue
		}
		if sig := hinted(e); sig != nil && (sig.ID == "provider.addresses" && ofOtherNetwork(c, t, e) || (sig.ID == "db.lock" || sig.ID == "db.slow") && !c.Own(e, t) && apartFromIt(c, t, sig, []*correlator.Event{e})) {
			continue
		}
		if s.party == semconv.LayerDeploy && s.about == "" && !c.Own(e, t) && ofStrangeApplication(c, e) {
			continue
		}
		if s.party == semconv.LayerAPIAuth && s.about == "" && !c.Own(e, t) && ofOtherClient(c, t, []*correlator.Event{e}) {
			continue
		}
		if accused && s.about == "" && hinted(e) == nil && (s.party == semconv.LayerNode || s.party == semconv.LayerNetwork) {
			continue // one end of a link says that it is the other one
		}
		if sig := hinted(e); sig != nil && sig.ID == "network.loss" && farEndAccuses(c, []*correlator.Event{e}) {
			continue
		}
		if s.party == semconv.LayerNode && s.about == "" && (ofRemoteStorage(c, []*correlator.Event{e}) || portIsDown(c, t, []*correlator.Event{e})) {
			continue
		}
		if s.party == semconv.LayerNetwork && s.about == "" && (ofOneMachine(c, e) || ofForwardProxy(e.Text) || holds(e.Text, soundLink) || holds(e.Text, declined) || ofThoseWhoTalk(e.Text) || accusesFarEnd(e) || silentPeer.MatchString(e.Text)) {
			continue
		}
		if s.party == semconv.LayerNetwork && s.about == "" && e.Severity < 17 && holds(e.Text, measured) && !onItsWay(c, t, e) {
			continue // what ails somewhere in a network is not on this way by that
		}
		switch {
		case s.about != "":
			if s.about != semconv.LayerClient {
				p := of(s.about)
				p.by[s.party] = true
				p.told = append(p.told, e)
				if s.answeredFailing {
					p.answers++
				}
				p.onset = earliest(p.onset, e.At)
			}
			of(s.party).blames[s.about] = true
		case s.echo && (!repeated[s.party] || !errsUnknown(c, s)) || s.party == semconv.LayerClient:
		case refusesCaller.MatchString(e.Text):
			// who turns a call away, as a client's fault (RFC 9110, 15.5), has no trouble in itself by that
		case s.party == semconv.LayerWorkflow && c.Own(e, t) && e.Severity < 17 && hinted(e) == nil && !s.cause && !holds(e.Text, failed) && e.Party() == e.Layer:
			// it watches what it has ordered, and tells how that stands
		default:
			p := of(s.party)
			p.own = append(p.own, s)
			p.onset = earliest(p.onset, e.At)
			p.severe = p.severe || e.Severity >= 17 || s.cause || e.Party() != e.Layer || ofLeaf(e)
			p.itsOwnIDs = p.itsOwnIDs || e.Allocation == c.ID || t.Node != "" && correlator.Names(e, t.Node)
		}
	}
	return out
}

func earliest(a, b int64) int64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// weigh gives each party its marks. Whoever blames another that tells of trouble, or that others blame too, is its victim.
func weigh(t *correlator.Trouble, parties []*testified) {
	first := int64(0)
	for _, p := range parties {
		if len(p.own) > 0 {
			first = earliest(first, p.onset)
		}
	}
	for _, p := range parties {
		if len(p.own) > 0 {
			p.score++
			if p.severe {
				p.score += markSevere - 1
			}
			if p.itsOwnIDs {
				p.score += markOwn
			}
			if p.onset <= first+moment {
				p.score += markFirst
			}
		}
		if len(p.by) > 0 {
			p.score += markBlamed
		}
		if p.answers >= keeps {
			p.score++
		}
		if p.layer == t.Owes {
			p.score += markOwes
		}
	}
	for _, p := range parties {
		for layer := range p.blames {
			if slices.ContainsFunc(parties, func(o *testified) bool { return o.layer == layer && o.onset <= p.onset+moment && !o.blames[p.layer] }) || p.onset == 0 {
				p.score -= 2
				break
			}
		}
	}
}

// onItsWay says whether a network's word is of the allocation, of its machine, or names an address or a host that the step's own records name.
func onItsWay(c *correlator.Case, t *correlator.Trouble, e *correlator.Event) bool {
	if c.Own(e, t) || t.Node != "" && correlator.Names(e, t.Node) {
		return true
	}
	for _, host := range hostWords.FindAllString(e.Text, 16) {
		if slices.ContainsFunc(c.Events, func(own *correlator.Event) bool { return !own.IsEvent() && strings.Contains(own.Text, host) }) {
			return true
		}
	}
	return false
}

// silentPeer finds that a probe was connected and then heard nothing: the way is there, and who listens does not answer.
var silentPeer = regexp.MustCompile(`\bconnect(?:s|ed|=ok)\b.*\b(?:no byte|no banner|no response|no answer|banner=none|response=none)\b`)

// measured are the words of a probe that tells how a way is, and not that it ended.
var measured = []string{"loss=", "loss ", "rtt", "latency", "jitter"}

// hostWords find the addresses and the names of hosts, racks and switches in a text: words with a digit in them.
var hostWords = regexp.MustCompile(`[a-z][a-z0-9.-]*-?\d[a-z0-9.-]*|\d{1,3}(?:\.\d{1,3}){3}`)
