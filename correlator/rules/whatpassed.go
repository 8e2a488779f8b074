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
var deeds = deedsOf(map[deed]string{
	deedSent: `send sends sent sending deliver* publish* pushed posted upload* handed forwarded transmit* presented presents submitted notified served issued called
		gesendet gesandt zugestellt enviad* envió entregad* envoyé* inviat* enviou`,
	deedReceived: `receiv* arriv* came come comes reached seen saw got consumed fetched
		erhalten empfang* angekommen eingegangen recibid* recibió llegó llegado reçu* arrivé* ricevut* arrivat* recebid* recebeu chegou`,
	deedAnswered: `answer* replied replies reply respond* acked ack acks acknowledg* confirm* accepted accepts returned beantwortet quittier* bestätigt respondió respondid* répondu confirmad* risposto confermat* respondeu`,
	deedHeld:     `held hold holds holding granted grants lease* given gave owned owns allowed permitted attached mounted erteilt hält halte concedid* accordé*`,
	deedEnded:    `closed closes released releases withdrawn withdrew ended terminated unlocked revoked detached unmounted deleted removed beendet geschlossen freigegeben cerrad* liberad* fermé* libéré*`,
	deedPresent:  `stored written wrote committed recorded persisted booked known registered enrolled exists exist present available found gespeichert vorhanden bekannt registrad* guardad* enregistré*`,
})

// deniedDeeds are nouns that tell of a deed where it is denied alone: "no such order", "0 requests".
var deniedDeeds = deedsOf(map[deed]string{
	deedReceived: `order orders request requests message messages event events call calls command commands callback callbacks webhook webhooks signal signals notice frames packets delivery deliveries datagrams auftrag aufträge nachricht nachrichten pedido pedidos mensaje mensajes commande ordre`,
	deedAnswered: `answer answers response responses reply replies receipt acknowledgement ack confirmation antwort antworten respuesta réponse`,
	deedHeld:     `lease leases lock locks holder reservation`,
	deedPresent:  `record records row rows entry entries trace booking eintrag registro`,
})

func deedsOf(table map[deed]string) map[string]deed {
	out := map[string]deed{}
	for d, words := range table {
		for _, w := range strings.Fields(words) {
			out[w] |= d
		}
	}
	return out
}

// deedOf is what a word tells of, 0 where it tells of none.
func deedOf(word string) deed {
	if d, ok := deeds[word]; ok {
		return d
	}
	for n := len(word); n >= 4; n-- {
		if d, ok := deeds[word[:n]+"*"]; ok {
			return d
		}
	}
	return 0
}

var (
	// denyings are the words by which somebody tells that something was not.
	denyings = setOf(`no not never none nothing nobody neither nor 0 zero without nowhere unknown denies denied doesn't didn't hasn't haven't don't isn't wasn't cannot
		nicht nichts nie niemals kein keine keinen keiner niemand ninguna ningún ninguno nunca nada jamás aucun aucune jamais rien mai nessun nessuna niente nenhum nenhuma`)
	// nobodies and what follows them deny without naming a deed: "none with host=7".
	nobodies = setOf(`none nothing nobody nichts niemand nada nessuno rien`)
	ofWhom   = setOf(`with for from of by under mit von für con de da avec`)
	// expected are the words of what is still to come.
	expected = setOf(`due expect expects expected expecting await awaits awaiting awaited wait waits waiting pending outstanding must should will would wartet warte erwartet espera esperando attend attendu`)
	// httpDone are the codes of an HTTP answer that says it is done.
	httpDone = setOf(`200 201 202 204`)
	// farEnds are the words by which somebody calls who is at the other end.
	farEnds = setOf(`peer remote far other server client upstream backend called caller proxy switch host broker bmc agent worker api provider partner side end machine node balancer gegenstelle gegenseite cliente servidor`)
	// breaks are what an other side is accused of.
	breaks = setOf(`closed hung dropped withdrew withdrawn reset ended left gave cut disconnected stopped terminated aborted`)
)

func setOf(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

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
	awaited := slices.ContainsFunc(words, func(w string) bool { return expected[w] })
	for i, w := range words {
		if nobodies[w] && i+1 < len(words) && ofWhom[words[i+1]] {
			t.denies |= deedReceived | deedPresent // "none with"
		}
		if breaks[w] {
			t.accuses = t.accuses || slices.ContainsFunc(words[max(0, i-4):i], func(w string) bool { return farEnds[w] }) || i+1 < len(words) && words[i+1] == "by"
		}
		before := words[max(0, i-denialBefore):i]
		denied := slices.ContainsFunc(before, func(w string) bool { return denyings[w] })
		if d := deniedDeeds[w]; d != 0 && denied && slices.ContainsFunc(words[max(0, i-2):i], func(w string) bool { return denyings[w] }) {
			t.denies |= d
		}
		if httpDone[w] && !awaited {
			t.affirms |= deedAnswered
		}
		d := deedOf(w)
		if d == 0 {
			continue
		}
		if d == deedReceived && i+1 < len(words) && words[i+1] == "back" {
			d = deedAnswered
		}
		if denied || slices.ContainsFunc(words[i+1:min(len(words), i+1+denialAfter)], func(w string) bool { return denyings[w] }) {
			t.denies |= d
		} else if !awaited {
			t.affirms |= d
		}
	}
}

// namesIn are the numbers and names in a record's words that may be of one thing alone, and the identifiers of what it was asked.
func namesIn(e *correlator.Event) []string {
	var out []string
	for _, kind := range []identity.Kind{identity.Request, identity.Outbox, identity.Claim} {
		if id := e.Own(kind); id != "" {
			out = append(out, strings.ToLower(id))
		}
	}
	for _, w := range strings.FieldsFunc(servicePort.ReplaceAllString(e.Text, " "), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
	}) {
		w = strings.Trim(w, "-_.")
		if len(w) >= 3 && strings.ContainsAny(w, "0123456789") && !measures(w) {
			out = append(out, w)
		}
	}
	return out
}

// servicePort finds the port of a called address, which is of every call to it: below the ephemeral ones (RFC 6335, 6).
var servicePort = regexp.MustCompile(`:(?:[1-9]\d{0,3}|[12]\d{4}|3[01]\d{3})\b`)

// measures says whether a word is a moment, a span, a size, or a number so short that it counts something.
func measures(w string) bool {
	rest := strings.TrimLeft(w, "0123456789.-tz")
	switch {
	case strings.Trim(w, "0123456789") == "":
		return len(w) < 4 || len(w) == 4 && (w[:2] == "19" || w[:2] == "20") // a count, a year
	case rest == "": // a moment, a date, a version, an address
		return true
	}
	return rest != w && len(rest) <= 2 // 30s, 12ms, 25gb
}
