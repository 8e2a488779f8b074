package identityprocessor

import (
	"context"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// What is counted as bad input. None of it costs the record.
const (
	badID          = "id_invalid"    // an identifier that is longer than 512 bytes or holds control characters
	badEvent       = "event_unknown" // an event name that is none of ours
	badTimeMissing = "time_missing"  // neither a time nor an observed time
	badTimePast    = "time_past"     // before 2000: a clock that was never set
	badTimeFuture  = "time_future"   // more than a day ahead of this Collector
	ahead          = 24 * time.Hour
	y2000          = 946_684_800_000_000_000
)

// batchStats counts one batch, so that the shared counters are touched once a batch and not once a record.
type batchStats struct {
	*telemetry
	now           int64
	via           counts // by identity.Via
	unresolvedBy  counts // by service
	bads          map[string]int64
	refusals      map[string]int64
	conflictCount int64

	missed  bool // the record that was resolved last was not
	noticed int  // unresolved records that were shown to late

	lastAdds uint32 // see list
	lastList string
}

// counts counts by name; the same name comes many times in a row.
type counts struct {
	of   map[string]*int64
	name string
	last *int64 // of name
}

func (c *counts) add(name string) {
	if c.last == nil || c.name != name {
		if c.of == nil {
			c.of = map[string]*int64{}
		}
		if c.of[name] == nil {
			c.of[name] = new(int64)
		}
		c.name, c.last = name, c.of[name]
	}
	*c.last++
}

func (t *batchStats) bad(reason string) { t.bads[reason]++ }

// inspect looks for what cannot be meant in a record whose keys were read.
func (t *batchStats) inspect(r *record.Record, p *profile.Profile) {
	for _, attrs := range [...]record.Attrs{r.Attrs, r.Resource} {
		for i := range attrs {
			// Reading the keys has left it out already; here it is only noticed. Most values are short
			// and plain, so that the profile is hardly ever asked.
			if !identity.ValidID(attrs[i].Value) && attrs[i].Value != "" && p.Attribute(attrs[i].Key) != identity.NoKind {
				t.bad(badID)
				t.once(badID, "identifier is no identifier", zap.String("service", r.Service), zap.String("attribute", attrs[i].Key), zap.Int("bytes", len(attrs[i].Value)))
			}
		}
	}
	if r.IsEvent() && !slices.Contains(eventNames, r.Name) {
		t.bad(badEvent)
		t.once(badEvent, "event name is none that is understood, kept as a log record", zap.String("service", r.Service), zap.String("event_name", r.Name[:min(len(r.Name), 128)]))
	}
	t.clock(r.Time, r.Service)
}

// clock looks for a time that no clock can have shown.
func (t *batchStats) clock(at int64, service string) {
	switch {
	case at != 0 && at < y2000:
		t.bad(badTimePast)
		t.once(badTimePast, "time lies before the year 2000", zap.String("service", service), zap.Int64("unix_nano", at))
	case t.now < math.MaxInt64-int64(ahead) && at > t.now+int64(ahead):
		t.bad(badTimeFuture)
		t.once(badTimeFuture, "time lies more than a day ahead", zap.String("service", service), zap.Int64("unix_nano", at))
	}
}

// badIDs counts identifiers that are none.
func (t *batchStats) badIDs(n int64, service string) {
	t.bads[badID] += n
	t.once(badID, "identifier is no identifier", zap.String("service", service))
}

var eventNames = semconv.EventNames()

// refused counts a statement that the index would not take.
func (t *batchStats) refused(err error) {
	reason := identity.Reason(err)
	t.refusals[reason]++
	t.once("refused "+reason, "link is refused", zap.Error(err))
}

func (t *batchStats) resolved(r *identity.Resolution, service string) {
	if t.missed = r.Via == identity.Unresolved; t.missed {
		t.unresolvedBy.add(service)
	} else {
		t.via.add(string(r.Via))
	}
	if len(r.Conflicts) > 0 {
		t.conflictCount++
	}
}

// report adds the batch to the counters.
func (t *batchStats) report(ctx context.Context) {
	for via, n := range t.via.of {
		add(ctx, t.telemetry.resolved, *n, "via", via)
	}
	for service, n := range t.unresolvedBy.of {
		add(ctx, t.telemetry.unresolved, *n, "service", t.serviceLabel(service))
	}
	for reason, n := range t.bads {
		add(ctx, t.badIn, n, "reason", reason)
	}
	for reason, n := range t.refusals {
		add(ctx, t.telemetry.refused, n, "reason", reason)
	}
	if t.conflictCount > 0 {
		t.conflicts.Add(ctx, t.conflictCount)
	}
}
