package rules

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// behind finds what a database says when the service in front of it only says that something failed
// (docs/domain.md §4.10, rule 2: the deepest hop that was reached and failed).
func behind() []correlator.Rule {
	return []correlator.Rule{{
		ID: "db.behind", Layer: semconv.LayerDB,
		Looks:      "an API that fails without saying of what, and its database's own word for a trouble that meets everybody",
		NextCheck:  "the database's own log",
		SafeAction: "restore the database; the API needs nothing",
		Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			var mute []*correlator.Event
			for _, e := range c.Failures(t) {
				if e.Layer == semconv.LayerAPI && opaque(e) {
					mute = append(mute, e)
				}
			}
			if len(mute) == 0 {
				return nil
			}
			var ev correlator.Evidence
			for _, e := range c.UnattributedBetween(mute[0].At-int64(30*time.Second), mute[len(mute)-1].At+int64(30*time.Second)) {
				if e.Layer != semconv.LayerDB || e.Node != "" || e.Severity < 17 {
					continue
				}
				s := named(e)
				if s == nil || !slices.Contains(meetsEverybody, s.ID) || ev.Rule != "" && ev.Rule != s.ID {
					continue
				}
				ev.Rule, ev.Layer, ev.Mechanism, ev.NextCheck, ev.SafeAction = s.ID, s.Layer, s.Mechanism, s.NextCheck, s.SafeAction
				if len(ev.Records) == 0 {
					ev.Summary = s.Summary + quote(e)
				}
				if len(ev.Records) < ownWords {
					ev.Records = append(ev.Records, e)
				}
			}
			if ev.Rule == "" {
				return nil
			}
			ev.Weight, ev.Directness, ev.Onset = correlator.Specific, correlator.Itself, min(ev.Records[0].At, mute[0].At)
			ev.Records = slices.Concat(ev.Records, mute)
			return []correlator.Evidence{ev}
		},
	}}
}

// meetsEverybody are the troubles of a database that no statement escapes; what one statement met (a lock, a
// duplicate) need not be what another failed of.
var meetsEverybody = []string{"db.pool", "db.down", "db.role", "db.space", "deploy.db_credentials"}

// opaque says whether a service tells that it failed, by a status that is its own, and not of what.
func opaque(e *correlator.Event) bool {
	if e.IsEvent() || named(e) != nil || e.HTTP.Status < 500 && !e.GRPCFailed() {
		return false
	}
	return e.Text == "" || wrapper(e) || holds(e.Text, []string{"internal error", "internal_error", "unknown error"})
}

// muteAPI says whether all that an API told is opaque, and nothing is heard of the database behind it: which of the
// two failed cannot be told.
func muteAPI(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	if slices.ContainsFunc(records, func(e *correlator.Event) bool { return !opaque(e) }) {
		return false
	}
	return c.AliveBetween(semconv.LayerDB, t.From-recently, c.Now) == nil
}

// heldByLock looks behind a pool that is empty: where the database itself says, of others and before the end of it, that
// statements wait for a lock, they are who holds the connections.
func heldByLock(c *correlator.Case, ev correlator.Evidence) correlator.Evidence {
	for _, e := range c.UnattributedBetween(ev.Onset-lockTime, ev.Records[len(ev.Records)-1].At+1) {
		s := (*signature)(nil)
		if e.Layer == semconv.LayerDB && e.Failed() {
			s = named(e)
		}
		if s == nil || s.ID != "db.lock" {
			continue
		}
		ev.Rule, ev.Layer, ev.Mechanism = s.ID, s.Layer, s.Mechanism
		ev.Records, ev.Onset = append([]*correlator.Event{e}, ev.Records...), min(ev.Onset, e.At)
		ev.Summary = s.Summary + quote(e) + ", and no connection is left"
		ev.NextCheck, ev.SafeAction = s.NextCheck, s.SafeAction
		break
	}
	return ev
}

// roomFor is how databases report their connections: so many of so many.
var roomFor = regexp.MustCompile(`(?:connections?|threads_connected|backends|count|total|active|in use|used|sessions?)\D{0,16}(\d+)(?:\D{0,16}(?:of|/)|.{0,48}?(?:max|limit))\D{0,20}(\d+)`)

// letIn are the words of a database that lets somebody in (PostgreSQL's log_connections, MySQL, Oracle).
var letIn = []string{"connection authorized", "connection received", "connect\t", "connection accepted"}

// hasRoom says whether a database tells that it has room for more: by its figures, or as it lets somebody in.
func hasRoom(e *correlator.Event) bool {
	if m := roomFor.FindStringSubmatch(e.Text); m != nil {
		used, _ := strconv.Atoi(m[1])
		most, _ := strconv.Atoi(m[2])
		return used*5 <= most*4
	}
	return holds(e.Text, letIn)
}

// serversOwn are the words of a database's server for its own limit (PostgreSQL, MySQL), which its clients repeat.
var serversOwn = []string{"too many clients", "too many connections", "remaining connection slots", "max_connections"}

// ownPool looks whose pool is empty: where the database reports room, it is that of whoever complains; a provider that turns its own callers away for want of
// connections speaks of those.
func ownPool(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	if slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return ofSleeper(c, e) }) {
		ev.Records = nil // who waited did not run: what it says of others is old
		return ev
	}
	if ev.Layer != semconv.LayerDB || slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.Party() == semconv.LayerDB }) {
		return ev
	}
	var room *correlator.Event
	full := false // it was so when somebody complained
	c.Each(ev.Records[0].At-recently, t.At+recently, func(e *correlator.Event) {
		if e.Party() != semconv.LayerDB {
			return
		}
		switch has := hasRoom(e); {
		case has && room == nil && !e.Failed():
			room = e
		case !has && roomFor.MatchString(e.Text):
			full = true
		}
	})
	if first := ev.Records[0]; !full && first.Party() == semconv.LayerProvider && !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool {
		return e.Service == first.Service && (e.HTTP.Status < 500 || holds(e.Text, serversOwn))
	}) {
		ev.Rule, ev.Layer, ev.Mechanism, ev.Directness = "provider.pool", semconv.LayerProvider, "pool", correlator.Itself
		ev.Summary = "the provider refused its callers, having no connection left for them" + quote(first)
		ev.NextCheck, ev.SafeAction = "who holds the provider's connections or sessions", "close those that nobody uses; no database is meant"
		return ev
	}
	if room != nil && !full {
		owner := ev.Records[0].Party()
		ev.Rule, ev.Layer, ev.Mechanism, ev.Directness = owner+".pool", owner, "pool", correlator.Itself
		ev.Records = append(ev.Records, room)
		ev.Summary = "a pool of " + owner + "'s own is used up, while the database has room" + quote(ev.Records[0])
		ev.NextCheck, ev.SafeAction = "who holds the pool's connections", "restart who holds them; the database needs nothing"
		return ev
	}
	if !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return !holds(e.Text, ofCallersPool) }) {
		ev.Records = nil // its owner may leak connections as well as the database be slow to serve them
	}
	return ev
}

// ofCallersPool are the words for a pool of connections that a caller keeps, as against the server's own limit.
var ofCallersPool = []string{"queuepool", "hikari", "pool has been exhausted", "pool exhausted", "timeout acquiring", "unable to acquire", "connection is not available", "acquisition timeout", "pool timed out", "from pool", "failed to acquire connection", "acquire: context deadline exceeded"}

// lockTime is how long before an empty pool the lock that empties it may have been complained of.
const lockTime = int64(time.Minute)
