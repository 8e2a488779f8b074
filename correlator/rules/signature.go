package rules

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

//go:embed signatures.yaml
var signatureText []byte

//go:embed vocabulary.yaml
var vocabularyText []byte

//go:embed wrappers.yaml
var wrapperText []byte

// signature is one cause by its words.
type signature struct {
	ID         string   `yaml:"id"`
	Layer      string   `yaml:"layer"`
	Mechanism  string   `yaml:"mechanism"`
	Looks      string   `yaml:"looks"`
	Any        []string `yaml:"any"`
	Loud       []string `yaml:"loud"` // like Any, in records that tell of a failure by their severity alone: a store is not asked for them
	All        []string `yaml:"all"`
	None       []string `yaml:"none"`
	Emitter    []string `yaml:"emitter"`
	Weight     string   `yaml:"weight"`
	Info       bool     `yaml:"info"`
	Reads      []string `yaml:"reads"`
	About      []string `yaml:"about"`
	Summary    string   `yaml:"summary"`
	NextCheck  string   `yaml:"next_check"`
	SafeAction string   `yaml:"safe_action"`

	place  int  // in the table
	family bool // a word of a whole family of programs: what one program means by it is less certain
}

// table is the parsed data; it is embedded, so an error is a mistake of the build, found by any test.
var table = sync.OnceValue(func() (t struct {
	signatures []signature
	wrappers   *needles.Set
	needles    *needles.Set // of the signatures' words, by place in the table; behind them those of themes, and those that count aloud
}) {
	var err error
	if t.signatures, err = config.Parse("signatures.yaml", signatureText, t.signatures); err != nil {
		panic(err)
	}
	families, err := config.Parse("vocabulary.yaml", vocabularyText, []signature(nil))
	if err != nil {
		panic(err)
	}
	for _, s := range families {
		s.family = true
		t.signatures = append(t.signatures, s)
	}
	wrappers, err := config.Parse("wrappers.yaml", wrapperText, []string(nil))
	if err != nil {
		panic(err)
	}
	var words []needles.Word
	add := func(list []string, owner int) {
		for _, w := range list {
			words = append(words, needles.Word{Text: w, Owner: owner})
		}
	}
	for i, s := range t.signatures {
		t.signatures[i].place = i
		add(s.Any, i)
		add(s.Reads, len(t.signatures)+themeRead)
		add(s.Loud, len(t.signatures)+len(themes)+i)
	}
	for theme, list := range themes {
		add(list, len(t.signatures)+theme)
	}
	t.wrappers, t.needles = needles.Of(wrappers...), needles.New(words)
	return t
})

// A hit is where a word of a signature stands in a text.
type hit struct {
	signature int // place in the table
	at        int
	loud      bool // it counts in a failure's record alone
}

// asking appends where which signatures' words stand in the text, and gives the themes that it names, a bit each.
func asking(text string, hits []hit) (_ []hit, named uint32) {
	signatures := len(table().signatures)
	table().needles.In(text, func(owner, at int) {
		switch theme := owner - signatures; {
		case theme < 0:
			hits = append(hits, hit{owner, at, false})
		case theme < len(themes):
			named |= 1 << theme
		default: // behind the themes: words that count aloud
			hits = append(hits, hit{theme - len(themes), at, true})
		}
	})
	return hits, named
}

// signatures makes a rule of every entry of the table.
func signatures() []correlator.Rule {
	var out []correlator.Rule
	for i := range table().signatures {
		s := &table().signatures[i]
		layer := s.Layer
		if layer == byParty {
			layer = ""
		}
		out = append(out, correlator.Rule{
			Words: s.telling(), ID: s.ID, Layer: layer, Mechanism: s.Mechanism, Looks: s.Looks, NextCheck: s.NextCheck, SafeAction: s.SafeAction,
			Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence { return s.find(c, t) },
		})
	}
	return out
}

// telling are the words that count at any severity.
func (s *signature) telling() []string {
	if !s.Info {
		return s.Reads
	}
	return slices.Concat(s.Any, s.Reads)
}

// byParty is the layer of a signature whose words name no layer: they count against whoever says them of itself, or
// against whom a watcher says them of.
const byParty = "party"

// owner is the layer that a record of this signature speaks against, "" where it names nobody.
func (s *signature) owner(c *correlator.Case, e *correlator.Event) string {
	layer := s.Layer
	if layer == byParty {
		if c.Profile.FirstFailure() {
			return "" // among peers a process ends where the step that it did failed
		}
		layer = e.Party()
		if e.Is(semconv.EventProviderState) {
			layer = semconv.LayerProvider // whoever tells of a provider's job, what it says is why the provider gave it up
		}
	}
	if s.ID == "node.memory" && ofOwnLimit(e) {
		layer = victim(c, e)
	}
	if !c.Profile.Knows(layer) || layer == semconv.LayerClient && !slices.Contains(clientsOwn, s.Mechanism) {
		return "" // what a client says of its own affairs is nobody's fault, but for its own machine's limits and clock, and what it asks for
	}
	return layer
}

// clientsOwn are the mechanisms of which a client can be the owner.
var clientsOwn = []string{"limit", "clock", "request", "keepalive"}

// find collects what around a trouble names this cause: of the failures that concern it, or, where none of them does,
// of what was said beside it.
func (s *signature) find(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	told := wordsOf(c, t)
	if !told.named[s.place] {
		return nil
	}
	var owners []string
	for _, list := range [][]*correlator.Event{told.failures[s], told.quiet[s], told.beside[s]} {
		for _, e := range list {
			if o := s.owner(c, e); o != "" && !slices.Contains(owners, o) {
				owners = append(owners, o)
			}
		}
	}
	if s.Layer == byParty && len(owners) > 1 {
		owners = s.speakers(c, told, owners)
	}
	var out []correlator.Evidence
	for _, o := range owners {
		out = append(out, s.findOf(c, t, told, o)...)
	}
	return out
}

// speakers leaves out of several parties that say the same those that only quote an answer which they were given, where others do not.
func (s *signature) speakers(c *correlator.Case, told *words, owners []string) []string {
	var out []string
	for _, list := range [][]*correlator.Event{told.failures[s], told.quiet[s], told.beside[s]} {
		for _, e := range list {
			if o := s.owner(c, e); o != "" && !slices.Contains(out, o) && !holds(e.Text, quoted) {
				out = append(out, o)
			}
		}
	}
	if len(out) == 0 {
		return owners
	}
	return out
}

// quoted are the words with which programs repeat what a remote call answered.
var quoted = []string{"rpc error: code", "error from server", "statuscode.", "status code", "grpc status"}

// findOf is find for one owner.
func (s *signature) findOf(c *correlator.Case, t *correlator.Trouble, told *words, owner string) []correlator.Evidence {
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Hearsay, Certain: true, Layer: owner, Rule: s.ID}
	if s.Layer == byParty {
		ev.Rule = owner + "." + s.Mechanism
	}
	if s.ID == "node.memory" && owner != semconv.LayerNode {
		ev.Rule, ev.Mechanism = owner+".crash", "crash"
	}
	switch s.Weight {
	case "telling":
		ev.Weight, ev.Certain = correlator.Telling, !s.family
	case "generic":
		ev.Weight, ev.Certain = correlator.Generic, false
	}
	again := false
	for _, e := range told.failures[s] {
		if s.owner(c, e) != owner {
			continue
		}
		if madeGood(c, t, e) {
			again = true
			continue
		}
		ev.Records = append(ev.Records, e)
		ev.Directness = min(ev.Directness, s.directness(e))
	}
	for _, e := range told.quiet[s] {
		if e.Layer == owner {
			ev.Records = append(ev.Records, e)
			ev.Directness = correlator.Itself
		}
	}
	direct := len(ev.Records) > 0
	if again && !direct {
		return nil // what others met at that time this allocation got over
	}
	ev.Beside = !direct
	for _, e := range told.beside[s] {
		if s.owner(c, e) == owner { // without them, too, nobody would blame that layer
			ev.Records = append(ev.Records, e)
			if !direct {
				ev.Directness = min(ev.Directness, s.directness(e))
				ev.Beside = ev.Beside && !c.Own(e, t)
			}
		}
	}
	if ev.Beside && !told.linked(c, ev.Records) && afterIt(t, ev.Records[0]) {
		return nil
	}
	if ev.Beside && beforeTheNode(owner) && !told.linked(c, ev.Records) && vanished(c, t) {
		return nil
	}
	along := s.Mechanism == "crash" && tookItAlong(c, t, owner, ev.Records)
	if ev.Beside && !along && (s.family && overBefore(c, t, ev.Records) || s.ID != "db.stalled" && servedSince(c, t, ev.Records)) {
		return nil
	}
	if ev.Beside {
		ev.Certain = false
		each := eachTime(c, t, ev.Records)
		switch {
		case each:
			ev.Weight = min(ev.Weight, correlator.Telling)
		case !told.linked(c, ev.Records):
			ev.Weight-- // that it was said at that time is not that it is why
		}
		ev.Beside = !each && !told.holds[owner] // who has the order in hand speaks of it, whether or not he names it
	}
	if len(ev.Records) == 0 {
		return nil
	}
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	if owner == semconv.LayerNode {
		if peer := alike(c, t, s, ev.Records); peer != nil {
			ev.Mechanism, ev.Onset = s.Mechanism, ev.Records[0].At
			return ofSeveral(c, t, peer, ev)
		}
	}
	s.ownWord(c, t, &ev)
	ev.Summary = s.Summary + quote(witness(ev.Records))
	ev.Onset = ev.Records[0].At
	ev.Records = tied(c, t, ev.Records)
	if s.Layer == semconv.LayerCert && !slices.ContainsFunc(ev.Records, conclusive) {
		ev.Weight, ev.Certain = correlator.Generic, false
	}
	return s.refined(c, t, told, ev)
}

// beforeTheNode says whether a layer's part of a task is done when a machine has taken it.
func beforeTheNode(layer string) bool {
	return layer == semconv.LayerDB || layer == semconv.LayerOutbox || layer == semconv.LayerProjection
}

// vanished says whether a machine took a task and neither it nor its agent was heard of since: what others told of their own affairs meanwhile is not why.
func vanished(c *correlator.Case, t *correlator.Trouble) bool {
	if t.Attempt == nil || t.Attempt.Taken == nil || t.Node == "" {
		return false
	}
	since := t.Attempt.Taken.At + 1
	return c.LastOf(semconv.LayerNodeAgent, t.Node, since, t.At) == nil && c.LastOf(semconv.LayerNode, t.Node, since, t.At) == nil
}

// eachTime says whether the same was said, within a breath, at several times at which the allocation's own calls failed, and at most of them: who writes
// a log down leaves out what he wrote before.
func eachTime(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	const breath, apart = int64(2 * time.Second), int64(time.Minute)
	times, met := 0, 0
	last, lastMet := int64(math.MinInt64), int64(math.MinInt64)
	for _, e := range c.Failures(t) {
		if e.IsEvent() || !c.Own(e, t) {
			continue
		}
		if e.At-last >= apart || times == 0 {
			times, last = times+1, e.At
		}
		if (e.At-lastMet >= apart || met == 0) && slices.ContainsFunc(records, func(o *correlator.Event) bool { return max(o.At, e.At)-min(o.At, e.At) <= breath }) {
			met, lastMet = met+1, e.At
		}
	}
	return met > 1 && 2*met >= times
}

// conclusive says whether a complaint about a certificate says enough to be believed: whose certificate, or who
// met it where; and of a time that is over, that it is over. "Has expired or is not yet valid" without the two
// times is a wrong clock as often as an expiry (docs/domain.md §4.10, rule 3).
func conclusive(e *correlator.Event) bool {
	if strings.Contains(e.Text, "or is not yet valid") && !strings.Contains(e.Text, " is after ") {
		return false
	}
	return e.IsEvent() || e.Node != "" || e.TraceID != "" || e.HTTP.Method != "" || e.HTTP.Proxied || e.Attr(semconv.TLSPeerSubject) != "" || e.Attr(semconv.ServerAddress) != "" ||
		holds(e.Text, []string{"://", "cn=", "subject", "issuer", "handshak", "dial", "peer", "client", "server", "upstream", "connect", "remote error", "not_after", "notafter", "expires", "signing cert"})
}

// ofOtherRequest says whether a record tells of a request, by its path, that nobody made for the allocation.
func ofOtherRequest(c *correlator.Case, t *correlator.Trouble, e *correlator.Event) bool {
	return !c.Own(e, t) && e.HTTP.Path != "" && !slices.ContainsFunc(c.Failures(t), func(own *correlator.Event) bool { return own.HTTP.Path == e.HTTP.Path })
}

// overBefore says whether what was said beside a step that still stands was over long before: it does not keep it.
func overBefore(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	if c.Lasts(records[len(records)-1], t.At) {
		return false
	}
	last, rest := int64(math.MinInt64), int64(10*time.Minute)
	for i, e := range records {
		last = max(last, e.EndAt())
		if i > 0 {
			rest = max(rest, 2*(e.At-records[i-1].At)) // what is said again and again is over when it is not said again
		}
	}
	if t.Kind == correlator.RequestTrouble { // it lasts for long, and what was said had ended as it began
		return t.At-t.From > int64(20*time.Minute) && last < t.From+(t.At-t.From)/8
	}
	return t.Kind == correlator.OverdueTrouble && last < t.At-rest
}

// tookItAlong says whether a process of the party that owes a step ended in the middle of it, and nothing has moved since: whatever it was
// at is lost with it, however long ago.
func tookItAlong(c *correlator.Case, t *correlator.Trouble, owner string, records []*correlator.Event) bool {
	ended := records[len(records)-1].At
	if t.Kind != correlator.OverdueTrouble || t.Owes == "" || owner != t.Owes || ended < t.From || ended > t.At {
		return false
	}
	return !slices.ContainsFunc(c.Events, func(e *correlator.Event) bool { return e.At > ended+moment && e.At < t.At && e.Moves() })
}
