package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// closedConnection finds who goes on using a connection that is closed, long after the other side is well again.
func closedConnection() []correlator.Rule {
	return []correlator.Rule{{
		ID: "caller.closed_connection", Mechanism: "stuck",
		Looks:      "somebody who says for minutes that his connection is closed, and the other side's own word, before that, that it takes connections, or a probe's of the same machine, where it is one and the same connection",
		NextCheck:  "whether it opens a new connection at all",
		SafeAction: "restart who holds the closed connection; the other side needs nothing",
		Find:       keepsClosed,
	}}
}

// closedByNow are those of a client library that was given a connection which is no more (Python's DB-API, Go's database/sql, JDBC, pgx, AMQP).
var closedByNow = []string{"connection already closed", "connection is already closed", "connection is closed", closedItself, "sql: database is closed", "connection has been closed", "channel is closed", "session is closed", "ldap: connection closed"}

// backWords are those of a server that takes connections again.
var backWords = []string{"ready to accept connections", "ready for connections", "server startup complete", "started tcp listener", "accepting connections", "server is ready"}

// socket finds the two ends of a connection, by which it is told from any other (Go's net).
var socket = regexp.MustCompile(`\b[\d.]+:\d+->[\d.]+:\d+`)

// newOnesWork is the word of a probe from the same machine that a new connection works, after one and the same connection was found closed; nil where there is none.
func newOnesWork(c *correlator.Case, list []*correlator.Event) (works *correlator.Event) {
	one := socket.FindString(list[0].Text)
	if one == "" || slices.ContainsFunc(list, func(e *correlator.Event) bool { return socket.FindString(e.Text) != one }) {
		return nil
	}
	c.EachIn(semconv.LayerNetwork, list[0].At, list[len(list)-1].At, func(e *correlator.Event) {
		if works == nil && !e.IsEvent() && !e.Failed() && correlator.Names(e, list[0].Node) && holds(e.Text, []string{" ok", "200", "connected", "open"}) {
			works = e
		}
	})
	return works
}

// keepsClosed needs the word three times, for five minutes or more after the other side was back.
func keepsClosed(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	by := map[string][]*correlator.Event{}
	for _, s := range statements(c, t) {
		if e := s.event; e.At <= t.At && e.Failed() && on(e, themeClosed) && e.Party() != semconv.LayerDB && e.Party() != semconv.LayerOutbox && e.Party() != semconv.LayerClient {
			by[e.Service] = append(by[e.Service], e)
		}
	}
	for _, list := range by {
		if len(list) < insists {
			continue
		}
		var back *correlator.Event
		for _, layer := range []string{semconv.LayerDB, semconv.LayerOutbox, semconv.LayerAPIAuth} {
			c.EachIn(layer, list[0].At-recently, t.At, func(e *correlator.Event) {
				if !e.IsEvent() && (closeTo(t, e) || correlator.EveryReaderHas(e)) && (holds(e.Text, backWords) || layer == semconv.LayerAPIAuth && back == nil && e.At > list[0].At && strings.Contains(list[0].Text, "ldap") && strings.Contains(e.Text, "success")) {
					back = e
				}
			})
		}
		last, party := list[len(list)-1], list[0].Party()
		if back == nil {
			back = newOnesWork(c, list)
		}
		if back == nil || last.At-back.At < outdated || party == "" || !c.Profile.Knows(party) {
			continue
		}
		return []correlator.Evidence{{
			Rule: party + ".closed_connection", Layer: party, Weight: correlator.Telling, Directness: correlator.Itself, Onset: back.At, Records: inOrder(back, list[0], last),
			Summary: party + " goes on using a connection that is closed, and the other side is well" + quote(last),
		}}
	}
	return nil
}
