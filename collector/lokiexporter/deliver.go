package lokiexporter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.uber.org/zap"
)

// verdict is what is to be done after an answer that is no error.
type verdict int

const (
	settled  verdict = iota // Loki has every entry, or will never take those that it has not
	unclear                 // refused, in words that do not say which entry it is
	tooLarge                // refused for its size
)

// statusError is an answer after which everything is to be sent again.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string {
	hint := ""
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = " (look at auth and tenant_id of this exporter)"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		hint = " (is endpoint the address of Loki?)"
	}
	return fmt.Sprintf("loki answers %d%s: %s", e.status, hint, short(e.text))
}

func isThrottled(err error) bool {
	var s *statusError
	return errors.As(err, &s) && s.status == http.StatusTooManyRequests
}

// isUnsent says that there was nobody to send to.
func isUnsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// short is enough of a text for a log.
func short(text string) string {
	const enough = 600
	if len(text) <= enough {
		return text
	}
	return text[:enough] + "…"
}

// deliver sends a push until each of its entries is settled. An error says that what is not done is to be sent again.
func (d *delivery) deliver(ctx context.Context, p push) error {
	end, err := d.exporter.turns.take(ctx, p)
	if err != nil {
		return fmt.Errorf("wait for the stream's turn: %w", err)
	}
	defer end()
	if p, err = d.unsent(ctx, p); err != nil || len(p) == 0 {
		return err
	}
	v, a, err := d.push(ctx, p)
	if err != nil || v == settled {
		return err
	}
	return d.search(ctx, p, v, a)
}

// push sends once. What the answer settles is done and counted.
func (d *delivery) push(ctx context.Context, p push) (verdict, answer, error) {
	e := d.exporter
	begun := time.Now()
	a, bytes, err := e.client.post(ctx, d.batch.encode(p))
	if err != nil {
		e.metrics.pushed(ctx, failed, bytes, time.Since(begun))
		if !isUnsent(err) {
			e.doubts.add(p)
		}
		return 0, a, err
	}
	outcome, v := accepted, settled
	switch {
	case a.status == http.StatusOK || a.status == http.StatusNoContent:
		e.taken.Add(1)
		d.took(ctx, p, 0)
	case a.status >= 200 && a.status < 300: // block_ingestion_status_code: 260, so that nobody sends it again
		outcome = refused
		d.drop(ctx, p, refusedBlocked, a.text)
	case a.status == http.StatusBadRequest:
		outcome = refused
		if !d.explained(ctx, p, a) {
			v = unclear
		}
	case a.status == http.StatusRequestEntityTooLarge:
		outcome, v = refused, tooLarge
	default:
		outcome, err = failed, &statusError{a.status, a.text}
		if a.status == http.StatusTooManyRequests {
			outcome = throttled
			d.took(ctx, before(p, a.text), 0)
		} else if a.status >= 500 {
			e.doubts.add(p) // a replica may have it, or what stands behind the proxy that answers
		}
		if a.after > 0 {
			err = exporterhelper.NewThrottleRetry(err, a.after)
		}
	}
	e.metrics.pushed(ctx, outcome, bytes, time.Since(begun))
	return v, a, err
}

// explained settles a push of which Loki has said what it refuses.
func (d *delivery) explained(ctx context.Context, p push, a answer) bool {
	refusals, ok := explain(a.text, p)
	if !ok {
		return false
	}
	dropped := 0
	for _, r := range refusals {
		if r.count == wholeStream {
			r.count = p.entries()
		}
		r.count = min(r.count, p.entries()-dropped)
		dropped += r.count
		d.tell(ctx, p, r)
	}
	d.took(ctx, p, dropped)
	return true
}

// took notes that Loki has the push, but for those that it refused.
func (d *delivery) took(ctx context.Context, p push, refused int) {
	d.finish(p)
	d.exporter.metrics.entries.Add(ctx, int64(p.entries()-refused))
}

// drop gives up all entries of a push.
func (d *delivery) drop(ctx context.Context, p push, reason, text string) {
	d.finish(p)
	d.tell(ctx, p, refusal{reason: reason, count: p.entries(), text: text})
}

// tell counts a refusal and says what to do.
func (d *delivery) tell(ctx context.Context, p push, r refusal) {
	d.exporter.metrics.drop(ctx, r.reason, r.count)
	d.exporter.log.Warn("loki refused log records; they are dropped, their neighbours are delivered", zap.String("reason", r.reason),
		zap.Int("records", r.count), zap.String("stream", short(p[0].stream.labels)), zap.String("loki says", short(r.text)), zap.String("what to do", remedies[r.reason]))
}
