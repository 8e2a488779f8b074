package rules

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// deed is what a party tells of what passed between it and another one: a set of bits.
type deed int

const (
	deedSent     deed = 1 << iota // somebody set it on its way
	deedReceived                  // somebody got it
	deedAnswered                  // the other one took or answered it
	deedHeld                      // something was given, and is held
	deedEnded                     // something was closed or taken back
	deedPresent                   // something is there, and as it should be
)

// deeds are the words, and beginnings of words (with "*"), by which one tells of each.
var deeds = map[deed]string{
	deedSent: `send sends sent sending deliver* publish* pushed posted upload* handed forwarded transmit* presented presents submitted notified served issued called
		gesendet gesandt zugestellt enviad* envió entregad* envoyé* inviat* enviou`,
	deedReceived: `receiv* arriv* came come comes reached seen saw got consumed fetched
		erhalten empfang* angekommen eingegangen recibid* recibió llegó llegado reçu* arrivé* ricevut* arrivat* recebid* recebeu chegou`,
	deedAnswered: `answer* replied replies reply respond* acked ack acks acknowledg* confirm* accepted accepts returned beantwortet quittier* bestätigt respondió respondid* répondu confirmad* risposto confermat* respondeu`,
	deedHeld:     `held hold holds holding granted grants lease* given gave owned owns allowed permitted attached mounted erteilt hält halte concedid* accordé*`,
	deedEnded:    `closed closes released releases withdrawn withdrew ended terminated unlocked revoked detached unmounted deleted removed beendet geschlossen freigegeben cerrad* liberad* fermé* libéré*`,
	deedPresent:  `stored written wrote committed recorded persisted booked known registered enrolled exists exist present available found gespeichert vorhanden bekannt registrad* guardad* enregistré*`,
}

// deniedDeeds are nouns that tell of a deed where it is denied alone: "no such order", "0 requests".
var deniedDeeds = map[deed]string{
	deedReceived: `order orders request requests message messages event events call calls command commands callback callbacks webhook webhooks signal signals notice frames packets delivery deliveries datagrams auftrag aufträge nachricht nachrichten pedido pedidos mensaje mensajes commande ordre`,
	deedAnswered: `answer answers response responses reply replies receipt acknowledgement ack confirmation antwort antworten respuesta réponse`,
	deedHeld:     `lease leases lock locks holder reservation`,
	deedPresent:  `record records row rows entry entries trace booking eintrag registro`,
}

// What a word is beside a deed.
const (
	negates  = 1 << iota
	awaits   // of what is still to come
	nobody   // with ofWhom after it, it denies without naming a deed: "none with host=7"
	ofWhom   //
	farEnd   // who is at the other end
	breaks   // what an other end is accused of
	httpDone // a code of an HTTP answer that says it is done
	by
	back
)

// kinds are the words of each.
var kinds = map[int]string{
	negates: `no not never none nothing nobody neither nor 0 zero without nowhere unknown denies denied doesn't didn't hasn't haven't don't isn't wasn't cannot
		nicht nichts nie niemals kein keine keinen keiner niemand ninguna ningún ninguno nunca nada jamás aucun aucune jamais rien mai nessun nessuna niente nenhum nenhuma`,
	awaits:   `before until deadline frist due expect expects expected expecting await awaits awaiting awaited wait waits waiting pending outstanding must should will would wartet warte erwartet espera esperando attend attendu`,
	nobody:   `none nothing nobody nichts niemand nada nessuno rien`,
	ofWhom:   `with for from of by under mit von für con de da avec`,
	farEnd:   `peer remote far other server client upstream backend called caller proxy switch host broker bmc agent worker api provider partner side end machine node balancer gegenstelle gegenseite cliente servidor`,
	breaks:   `closed hung dropped withdrew withdrawn reset ended left gave cut disconnected stopped terminated aborted`,
	httpDone: `200 201 202 204`,
	by:       `by`,
	back:     `back`,
}

// role is what a word is in what somebody tells.
type role struct {
	done, denied deed // denied: of a deed where it is denied alone
	is           int
}

var roles = func() map[string]role {
	out := map[string]role{}
	add := func(words string, change func(*role)) {
		for _, w := range strings.Fields(words) {
			r := out[w]
			change(&r)
			out[w] = r
		}
	}
	for d, words := range deeds {
		add(words, func(r *role) { r.done |= d })
	}
	for d, words := range deniedDeeds {
		add(words, func(r *role) { r.denied |= d })
	}
	for kind, words := range kinds {
		add(words, func(r *role) { r.is |= kind })
	}
	for word, r := range out { // a word that is something else, too
		if r.done == 0 && !strings.HasSuffix(word, "*") {
			r.done = begun(out, word).done
			out[word] = r
		}
	}
	return out
}()

// The lengths of the beginnings of words among roles.
const shortestBegin, longestBegin = 3, 10

func roleOf(word string) role {
	if r, known := roles[word]; known {
		return r
	}
	return begun(roles, word)
}

// begun is the role of a beginning of a word.
func begun(roles map[string]role, word string) role {
	var begin [longestBegin + 1]byte
	for n := copy(begin[:longestBegin], word); n >= shortestBegin; n-- {
		kept := begin[n]
		begin[n] = '*'
		if r, known := roles[string(begin[:n+1])]; known {
			return r
		}
		begin[n] = kept
	}
	return role{}
}

// denialWords are what a text holds that denies something, or tells that another one ended it: without one of them it is not read for that.
var denialWords = []string{" not ", "not ", "never", "nothing", "none", "nobody", "neither", " no ", "unknown", "without", "nowhere", "cannot", "n't ", " 0 ", ": 0", "zero ", "denie",
	"nicht", "nichts", "nie ", "niemals", "kein", "niemand", "ningun", "ningún", "nunca", "nada ", "jamás", "aucun", "jamais", "rien ", "mai ", "nessun", "niente", "nenhum",
	"closed", "hung ", "dropped", "withdrew", "withdrawn", "reset ", "ended", "disconnected", "stopped", "terminated", "aborted", " sh-- ", " sd-- "}

// How many words a negation may stand before what it denies, and after it ("received: 0").
const (
	denialBefore = 5
	denialAfter  = 3
)

// whatPassed is what one record tells of what passed between its speaker and another party.
type whatPassed struct {
	event   *correlator.Event
	affirms deed
	denies  deed
	accuses bool     // that the other side ended it
	things  []string // what it speaks of: numbers and names with a digit in its words, and the identifiers that it bears
}

// whatPassedBy reads a record. A failure of the line that a proxy's access log keeps affirms nothing.
func whatPassedBy(e *correlator.Event) whatPassed {
	t := whatPassed{event: e}
	for _, clause := range strings.FieldsFunc(e.Text, func(r rune) bool { return strings.ContainsRune(";,|\n", r) }) {
		t.read(strings.FieldsFunc(clause, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }))
	}
	t.accuses = t.accuses || e.Layer == semconv.LayerIngress && (holds(e.Text, serverClosed) || flagged(e.HTTP, "UC"))
	if t.affirms&deedAnswered != 0 {
		t.affirms |= deedSent // what was answered has arrived
	}
	if t.affirms|t.denies != 0 || t.accuses {
		t.things = namesIn(e)
	}
	return t
}

func (t *whatPassed) read(words []string) {
	var few [48]role
	roles, awaited := few[:0], false
	for _, w := range words {
		r := roleOf(w)
		roles, awaited = append(roles, r), awaited || r.is&awaits != 0
	}
	for i, r := range roles {
		follows := func(flag int) bool { return i+1 < len(roles) && roles[i+1].is&flag != 0 }
		if r.is&nobody != 0 && follows(ofWhom) {
			t.denies |= deedReceived | deedPresent // "none with"
		}
		if r.is&breaks != 0 {
			t.accuses = t.accuses || within(roles[max(0, i-4):i], farEnd) || follows(by)
		}
		denied := within(roles[max(0, i-denialBefore):i], negates)
		if r.denied != 0 && denied && within(roles[max(0, i-2):i], negates) {
			t.denies |= r.denied
		}
		if r.is&httpDone != 0 && !awaited {
			t.affirms |= deedAnswered
		}
		d := r.done
		switch {
		case d == 0:
			continue
		case d == deedReceived && follows(back):
			d = deedAnswered
		}
		if denied || within(roles[i+1:min(len(roles), i+1+denialAfter)], negates) {
			t.denies |= d
		} else if !awaited {
			t.affirms |= d
		}
	}
}

// within says whether one of some words is of a kind.
func within(roles []role, kind int) bool {
	return slices.ContainsFunc(roles, func(r role) bool { return r.is&kind != 0 })
}

// thingKinds are the identifiers of what may be one thing between two parties.
var thingKinds = []identity.Kind{identity.Request, identity.Outbox, identity.Claim}

// namesIn are the numbers and names in a record's words that may be of one thing alone, and the identifiers of what it was asked.
func namesIn(e *correlator.Event) []string {
	var out []string
	for _, kind := range thingKinds {
		if id := e.Own(kind); id != "" {
			out = append(out, strings.ToLower(id))
		}
	}
	for _, w := range strings.FieldsFunc(servicePort.ReplaceAllString(e.Text, " "), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	}) {
		w = strings.Trim(w, "-_.")
		if len(w) >= 3 && strings.ContainsAny(w, digits) && !measures(w) {
			out = append(out, w)
		}
	}
	return out
}

// servicePort finds the port of a called address, which is of every call to it: below the ephemeral ones (RFC 6335, 6).
var servicePort = regexp.MustCompile(`:(?:[1-9]\d{0,3}|[12]\d{4}|3[01]\d{3})\b`)

const digits = "0123456789"

// packets are the words of what ends of a way count.
var packets = setOf(`syn syns frame frames packet packets discover discovers datagrams arp lacp lldp`)

// packetsOf are the kinds of packets that a record counts, for each machine on whose way it counts them.
func packetsOf(c *correlator.Case, e *correlator.Event) (out []string) {
	for _, node := range c.Lifecycle.Nodes {
		if e.Node != node && !strings.Contains(e.Text, strings.ToLower(node)) {
			continue
		}
		for _, w := range strings.FieldsFunc(e.Text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if packets[w] {
				out = append(out, strings.TrimSuffix(w, "s")+" "+node)
			}
		}
	}
	return out
}

func setOf(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// measures says whether a word is a moment, a span, a size, or a number so short that it counts something.
func measures(w string) bool {
	rest := strings.TrimLeft(w, "0123456789.-tz")
	switch {
	case strings.Trim(w, digits) == "":
		return len(w) < 4 || len(w) == 4 && (w[:2] == "19" || w[:2] == "20") // a count, a year
	case rest == "": // a moment, a date, a version, an address
		return true
	}
	return rest != w && len(rest) <= 2 // 30s, 12ms, 25gb
}
