package lokiexporter

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"
)

// reader asks Loki what it has of a push in doubt.
type reader struct {
	query string // "": the address is not one of the push API

	mu      sync.Mutex
	refused time.Time // since when Loki has answered, and not with what it has
	told    bool
}

// patient says whether a refusal is to be waited out.
func (r *reader) patient(err error, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var status *statusError
	switch {
	case errors.Is(err, errUnasked):
		return false
	case !errors.As(err, &status): // no answer: a push would have none, either
		r.refused = time.Time{}
		return true
	case r.refused.IsZero():
		r.refused = now
	}
	return now.Sub(r.refused) < askedFor
}

func (r *reader) answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused, r.told = time.Time{}, false
}

// first says whether it is the first time since Loki answered.
func (r *reader) first() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.told
	r.told = true
	return !was
}

// unsent is what of a push Loki does not have. It asks only where there is a doubt. An error says that everything is to be sent again.
func (d *delivery) unsent(ctx context.Context, p push) (push, error) {
	e := d.exporter
	if e.reader.query == "" {
		return p, nil
	}
	var out push
	for _, one := range p {
		if !e.doubts.of(one) {
			out = append(out, one)
			continue
		}
		there, err := e.client.stream(ctx, e.reader.query, one.stream.labels, spanOf(one.entries, time.Time{}))
		if err != nil {
			if e.reader.patient(err, time.Now()) {
				return nil, err
			}
			if e.reader.first() {
				e.log.Warn("a push that was not answered is sent again, and loki does not say what it has of it: some lines may be there twice (ask_when_in_doubt)", zap.Error(err))
			}
			e.metrics.doubted(ctx, unknown, len(one.entries))
			out = append(out, one)
			continue
		}
		e.reader.answered()
		if rest := d.without(ctx, one, there); len(rest.entries) > 0 {
			out = append(out, rest)
		}
	}
	return out, nil
}

// without leaves out the entries that are there; they are done.
func (d *delivery) without(ctx context.Context, p part, there found) part {
	has, rest := part{stream: p.stream}, part{stream: p.stream}
	for _, one := range p.entries {
		if text, err := p.stream.decode(one); err == nil && there.has(text) {
			has.entries = append(has.entries, one)
		} else {
			rest.entries = append(rest.entries, one)
		}
	}
	d.took(ctx, push{has}, 0)
	d.exporter.metrics.doubted(ctx, present, len(has.entries))
	d.exporter.metrics.doubted(ctx, absent, len(rest.entries))
	return rest
}
