package rules

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// failed are the words by which a line of any severity tells of a failure.
var failed = []string{"error", "fail", "exception", "fatal", "unable to", "could not", "cannot", "can't be"}

// named is the signature that a record's words name, nil where they name none or one that says little.
func named(e *correlator.Event) *signature {
	if s := hinted(e); s != nil && s.Weight != "generic" {
		return s
	}
	return nil
}

// hinted is the signature that a record's words name, be it one that says little.
func hinted(e *correlator.Event) *signature { return readingOf(e).hints }

// reading is what was read out of a record's words, each once.
type reading struct {
	hints     *signature
	themes    uint32 // which of them it names, a bit each
	statement statement
	stated    bool // whether the statement was read
	refusal   bool
	refused   bool // whether it was read that this is a refusal
	callee    string
	called    bool   // whether the callee was read
	in        int64  // the case in which these were read last
	strangers uint64 // and the programs that were heard of there: see programsHeard
}

// within gives a reading for a case. What a record says of whom hangs on the names that are heard of in it, and live judging reads an event in many cases.
func (r *reading) within(c *correlator.Case) *reading {
	if r.in == c.Serial {
		return r
	}
	if heard := heard(c).fingerprint; r.strangers != heard {
		r.stated, r.called, r.strangers = false, false, heard
	}
	r.in = c.Serial
	return r
}

// nothing is the reading of the many records that tell of no failure and name no cause, and nothingBut that of those among them that deny something.
// They are nobody's own.
var (
	nothing    = &reading{}
	nothingBut = &reading{themes: 1 << themeDenies}
)

// shared says whether a reading is that of many records.
func (r *reading) shared() bool { return r == nothing || r == nothingBut }

func readingOf(e *correlator.Event) *reading {
	return e.Memo(func(e *correlator.Event) any {
		hints, named := read(e)
		if hints == nil && !e.Failed() {
			switch named {
			case nothing.themes:
				return nothing
			case nothingBut.themes:
				return nothingBut
			}
		}
		return &reading{hints: hints, themes: named}
	}).(*reading)
}

// A theme is words for which a rule searches a whole case, or every failure at every trouble: they are found in the pass that finds the
// signatures' words.
const (
	themeUnoffered = iota
	themeNetbootOff
	themeDialRefused
	themeUnreachable
	themeAtOnce
	themeRefusedAs
	themeAwaited
	themeBudget
	themeNeverCame
	themeReceived
	themeAged
	themeAbsent
	themeAloud
	themeNoneCame
	themeLocked
	themeDenies
	themeThrown
	themePrecondition
	themeSending
	themeIdle
	themeFull
	themeClosed
	themeMissed
	themeUnconnected
	themeRemoved
	themeActed
	themeLaunch
	themeWished
	themeTurned
	themeVersion
	themeRead // words of other lines that are looked at; signatures name them
)

var themes = [][]string{themeUnoffered: unoffered, themeNetbootOff: netbootOff, themeDialRefused: dialRefused, themeUnreachable: unreachable, themeAtOnce: overAtOnce, themeRefusedAs: refusedAs, themeAwaited: awaited, themeBudget: {"disruption budget"}, themeNeverCame: missing, themeReceived: takenUp, themeAged: aged, themeAbsent: absent, themeAloud: aloud, themeNoneCame: noneCameWords, themeLocked: locked, themeDenies: denialWords, themeThrown: thrownWords, themePrecondition: preconditions, themeSending: {brokeSending}, themeIdle: {"idle"}, themeFull: ofRoomWords, themeClosed: closedByNow, themeMissed: missesIt, themeUnconnected: unansweredConnect, themeRemoved: tookAway, themeActed: hadActed, themeLaunch: launchWords, themeWished: wantWords, themeTurned: wordsOfNo, themeVersion: versionWords, themeRead: nil}

// on says whether a record names a theme.
func on(e *correlator.Event, theme int) bool { return readingOf(e).themes&(1<<theme) != 0 }

// awayFromMachines are the layers that neither boot machines nor serve what they boot from: their many lines are not read for that.
var awayFromMachines = []string{semconv.LayerClient, semconv.LayerIngress, semconv.LayerAPIAuth, semconv.LayerAPI, semconv.LayerDB, semconv.LayerOutbox, semconv.LayerProjection, semconv.LayerCert}

// onTheme lists, in order, the allocation's own plain records that name a theme of machines that boot.
func onTheme(c *correlator.Case, theme int) []*correlator.Event {
	type key struct{}
	by := c.Memo(key{}, func() any { return make([][]*correlator.Event, len(themes)) }).([][]*correlator.Event)
	if by[theme] == nil {
		by[theme] = []*correlator.Event{}
		for _, e := range ownOn(c, theme) {
			if e.Text != "" && !slices.Contains(awayFromMachines, e.Layer) {
				by[theme] = append(by[theme], e)
			}
		}
	}
	return by[theme]
}

// denying is, behind the themes, what denies something by its words or by a proxy's flags.
var denying = len(themes)

// ownOn lists, in their order, the allocation's own plain records that name a theme: one pass for all who ask.
func ownOn(c *correlator.Case, theme int) []*correlator.Event {
	type key struct{}
	by := c.Memo(key{}, func() any {
		by := make([][]*correlator.Event, len(themes)+1)
		for _, e := range c.Events {
			if e.IsEvent() {
				continue
			}
			named := readingOf(e).themes
			if named&(1<<themeDenies) != 0 || e.HTTP.Flags != "" {
				by[denying] = append(by[denying], e)
			}
			for ; named != 0; named &= named - 1 {
				theme := bits.TrailingZeros32(named)
				by[theme] = append(by[theme], e)
			}
		}
		return by
	}).([][]*correlator.Event)
	return by[theme]
}

// read finds the signature that a record's words name. In a line, the words that stand last speak: the deepest of a chain of wrapped errors.
// Of several lines, the cause that stands first in the table.
func read(e *correlator.Event) (*signature, uint32) {
	var few [16]hit
	hits, named := asking(e.Text, few[:0])
	if len(hits) > 0 && !speaksAloud(e, named) {
		hits = slices.DeleteFunc(hits, func(h hit) bool { return h.loud })
	}
	if len(hits) == 0 {
		return nil, named
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.signature, b.signature)) })
	first := len(table().signatures)
	for len(hits) > 0 { // the last line first
		begin := strings.LastIndexByte(e.Text[:hits[0].at], '\n') + 1
		line, _, _ := strings.Cut(e.Text[begin:], "\n")
		of := 0
		for of < len(hits) && hits[of].at >= begin {
			of++
		}
		deepest := slices.IndexFunc(hits[:of], func(h hit) bool { return table().signatures[h.signature].counts(e, line) })
		if deepest >= 0 {
			first = min(first, hits[deepest].signature)
		}
		hits = hits[of:]
	}
	if first == len(table().signatures) {
		return nil, named
	}
	return &table().signatures[first], named
}

// speaksAloud says whether words count that do so only in a failure: in one, and in a line of whatever level that bears an identifier and whose words tell of one.
func speaksAloud(e *correlator.Event, named uint32) bool {
	return e.TellsOfFailure() || ofSomething(e) && (named&(1<<themeAloud) != 0 || holds(e.Text, failed))
}

// ofSomething says whether a record bears an identifier of what it tells of: whoever reads what concerns that reads it, too.
func ofSomething(e *correlator.Event) bool {
	for _, kind := range []identity.Kind{identity.Allocation, identity.Node, identity.ProviderJob, identity.Workflow, identity.Task, identity.Request} {
		if e.Own(kind) != "" {
			return true
		}
	}
	return e.TraceID != ""
}

// aloud are the words of a failure that its program writes without a level, or at INFO (Go's net/http, vCenter's vpxd, Temporal's SDKs, OCaml,
// firmware on a console, Informix).
var aloud = []string{"panic serving", " -- error ", "unhandled signal", "failedevent]", "fatal error: exception", "press f1 to", "logical log files are full"}

// counts says whether a line in which one of the signature's words stands names its cause.
func (s *signature) counts(e *correlator.Event, line string) bool {
	if !s.maySpeak(e) || s.Mechanism == "clock" && withinSecond(line) {
		return false
	}
	for _, words := range s.All {
		if !strings.Contains(line, words) {
			return false
		}
	}
	return (len(s.About) == 0 || holds(line, s.About)) && !holds(line, s.None)
}

// maySpeak says whether the words count from who says them: by the emitter's layer, or by that of the component which
// a watcher speaks of.
func (s *signature) maySpeak(e *correlator.Event) bool {
	return len(s.Emitter) == 0 || slices.Contains(s.Emitter, e.Party()) || slices.ContainsFunc(s.Emitter, func(layer string) bool { return quotes(e, layer) })
}

// libraries are the prefixes with which client libraries repeat the words of the server that they talk to (lib/pq, pgx, asyncpg, psycopg, JDBC,
// go-sql-driver, redis clients, mongo drivers).
var libraries = map[string][]string{
	semconv.LayerDB: {"pq: ", "pgx: ", "asyncpg.", "psycopg", "pg::", "org.postgresql", "psqlexception", "npgsql", "sqlstate", "on a read-only instance", "error 1290 (", "pymysql", "mysql2::error", "redisclient::", "redis.exceptions", "readonly you can't", "slaveok", "mongoservererror", "mongoexception", "etcdserver: ", "dqlite"},
}

// quotes says whether a record repeats what a server of a layer said, through the library by which it talks to it.
func quotes(e *correlator.Event, layer string) bool {
	words := quotedBy()[layer]
	return words != nil && words.Any(e.Text)
}

// quotedBy are the libraries' prefixes, to be found in one pass.
var quotedBy = sync.OnceValue(func() map[string]*needles.Set {
	out := map[string]*needles.Set{}
	for layer, words := range libraries {
		out[layer] = needles.Of(words...)
	}
	return out
})

// wrapper says whether a record only repeats that something failed further on.
func wrapper(e *correlator.Event) bool {
	if named(e) != nil {
		return false
	}
	return table().wrappers.Any(e.Text)
}

// quote gives the witness's own words, for a summary: in quotes where they have none themselves, what cannot be printed escaped.
func quote(e *correlator.Event) string {
	words := e.Summary()
	switch {
	case words == "":
		return ""
	case strings.Contains(words, `"`):
		escaped := strconv.Quote(words)
		return fmt.Sprintf(" (%s: %s)", e.Service, unquoted.Replace(escaped[1:len(escaped)-1]))
	}
	return fmt.Sprintf(" (%s: %q)", e.Service, words)
}

// unquoted takes back what strconv.Quote escapes though it can be printed.
var unquoted = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
