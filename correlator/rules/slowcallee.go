package rules

import (
	"regexp"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// slowCallee finds databases whose own span of a statement lasts until its caller's time is over.
func slowCallee() []correlator.Rule {
	return []correlator.Rule{{
		ID: "db.slow_statement", Layer: semconv.LayerDB, Mechanism: "slow",
		Looks:      "a request that failed for its time, and within it the database's own span of a statement that failed and took nearly all of it",
		NextCheck:  "what the database did meanwhile: its checkpoints, its disks, its locks",
		SafeAction: "its callers need nothing; ask again once it is quick",
		Find:       tookAllTheTime,
	}}
}

// nearlyAll is the share of a request's time that one statement takes, what is left being the way and the answer; longStatement how long that is at least, twice
// what a pool or a driver waits by default before it complains itself.
const (
	nearlyAll     = 0.9
	longStatement = 5 * time.Second
)

// tookAllTheTime needs the step's own request, failed by whoever asks the database, and the span of the same trace by the database itself; and a sign of life of who
// asked while he waited, or the database's own log of a long statement: a process that is held still takes all of its spans along.
func tookAllTheTime(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var records []*correlator.Event
	for _, e := range c.Failures(t) {
		if e.Signal != record.Span || e.TraceID == "" || e.Layer == semconv.LayerDB || e.Layer == semconv.LayerClient || !c.Own(e, t) || e.EndAt()-e.At < int64(longStatement) {
			continue
		}
		for _, s := range spansByTrace(c)[e.TraceID] {
			if s.Layer == semconv.LayerDB && s.Failed() && s.At >= e.At-moment && s.At < e.EndAt() && s.EndAt() <= e.EndAt()+moment && float64(s.EndAt()-s.At) >= nearlyAll*float64(e.EndAt()-e.At) && !ofSleeper(c, s) && (c.AliveBetween(e.Layer, s.At+moment, s.EndAt()-1) != nil || tellsOfLong(c, t, s)) {
				records = append(records, s, e)
			}
		}
	}
	if len(records) == 0 {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: records[0].At, Records: inOrder(records...),
		Summary: "a statement took the database all of the request's time" + quote(records[0]),
	}}
}

// longDuration finds how long a statement took by a database's own log (PostgreSQL's log_min_duration_statement), in milliseconds.
var longDuration = regexp.MustCompile(`\bduration: (?:[5-9]|\d\d)\d{3,}(?:\.\d+)? ms\b`)

// tellsOfLong says whether a database's log tells of a long statement while one lasts, or soon after.
func tellsOfLong(c *correlator.Case, t *correlator.Trouble, s *correlator.Event) (told bool) {
	c.EachIn(semconv.LayerDB, s.At, s.EndAt()+int64(time.Minute), func(e *correlator.Event) {
		told = told || e.Signal == record.Log && !e.IsEvent() && strings.Contains(e.Text, "duration: ") && longDuration.MatchString(e.Text) && (closeTo(t, e) || correlator.EveryReaderHas(e))
	})
	return told
}
