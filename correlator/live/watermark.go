package live

import (
	"time"

	"github.com/faultline-io/faultline/internal/record"
)

// How long what was observed may be under way: senders and Collectors gather for a second each, and a busy store takes its
// time. Bounded, since a record that comes out of a queue on a disk is no reason to hold back for an hour.
const (
	leastUnderWay = time.Second
	mostUnderWay  = 10 * time.Second
	mostCatchUp   = 2 * time.Minute // how long records that were longer under way than that hold the watermark, as after an outage of the store
)

// watermark is the observed time up to which all records have arrived. It follows the newest observed time at the distance that
// records lately took from their collector to here. Of two emitters one may be seconds ahead of the other: a step whose result
// is missing is late only when everything that was observed by its deadline has had the time to arrive.
type watermark struct {
	at   int64         // Unix nanoseconds
	late time.Duration // the longest way of a record lately
	seen []progress    // that the watermark has not reached yet

	lateFrom, lateUntil time.Time // since when, and until when last, records came that were too long under way
}

// newWatermark lies before all records.
func newWatermark() *watermark { return &watermark{at: 1} }

// progress is how far the newest observed time was at one look.
type progress struct {
	when     time.Time
	observed int64
}

// note takes the records that arrived at a look.
func (w *watermark) note(now time.Time, records []*record.Record) {
	for _, r := range records {
		way := now.Sub(time.Unix(0, r.Observed))
		w.late = max(w.late, min(way, mostUnderWay))
		if way > mostUnderWay {
			if now.Sub(w.lateUntil) >= mostUnderWay {
				w.lateFrom = now
			}
			w.lateUntil = now
		}
	}
}

// hold keeps the watermark where it is: what was under way when the store went away still is.
func (w *watermark) hold(now time.Time) {
	for i := range w.seen {
		w.seen[i].when = now
	}
}

// advance moves the watermark to the newest observed time of the last look that lies as far back as records are late.
func (w *watermark) advance(now time.Time, observed int64) {
	w.late = max(leastUnderWay, w.late*49/50) // half of it within 17 seconds of looks
	w.seen = append(w.seen, progress{now, observed})
	if now.Sub(w.lateUntil) < mostUnderWay && now.Sub(w.lateFrom) < mostCatchUp {
		w.hold(now) // queues are emptied in no order
		return
	}
	for len(w.seen) > 0 && now.Sub(w.seen[0].when) >= w.late {
		w.at, w.seen = w.seen[0].observed, w.seen[1:]
	}
}
