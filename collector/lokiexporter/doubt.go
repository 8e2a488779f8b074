package lokiexporter

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

const (
	// notedAhead is how far beyond a push a note goes, so that those that follow it need none of their own.
	notedAhead = 10 * time.Second
	// notedFor is how long a note holds at least after its batch is done: the queue deletes what was delivered within a second or two.
	notedFor = 10 * time.Second
	// doubtedFor is how long a stretch is in doubt: older lines Loki does not take (reject_old_samples_max_age).
	doubtedFor = 8 * 24 * time.Hour
)

// doubts know what Loki may have already although nobody knows that it does: pushes whose answer never came, and what an
// exporter that was killed had under way, which its queue on disk gives once more. The latter is written beside the queue before
// anything is sent.
type doubts struct {
	store storage.Client // nil where the queue is in memory: it ends with the process
	now   func() time.Time

	mu      sync.Mutex
	known   spans
	noted   [2]spans // what is and was under way: now, and in the time before that
	since   time.Time
	under   map[*batch]spans
	written bool // the store has all of it
}

// notesKey is where the store has them.
const notesKey = "under_way"

// openDoubts reads what an earlier process left.
func openDoubts(ctx context.Context, host component.Host, queue *component.ID, exporter component.ID) (*doubts, error) {
	d := &doubts{now: time.Now, known: spans{}, noted: [2]spans{{}, {}}, under: map[*batch]spans{}}
	if queue == nil {
		return d, nil
	}
	files, ok := host.GetExtensions()[*queue].(storage.Extension)
	if !ok {
		return d, nil // the queue says what is wrong
	}
	var err error
	if d.store, err = files.GetClient(ctx, component.KindExporter, exporter, notesKey); err != nil {
		return nil, fmt.Errorf("open %s: what is under way is written there: %w", queue, err)
	}
	text, err := d.store.Get(ctx, notesKey)
	if err != nil {
		return nil, fmt.Errorf("read from %s what was under way: %w", queue, err)
	}
	if text != nil && json.Unmarshal(text, &d.known) != nil || d.known == nil {
		d.known = spans{} // not ours: at worst some lines are there twice
	}
	return d, nil
}

func (d *doubts) close(ctx context.Context) error {
	if d.store == nil {
		return nil
	}
	return d.store.Close(ctx)
}

// begin notes what is about to be sent. An error is the store's: sent it may be nevertheless.
func (d *doubts) begin(ctx context.Context, b *batch) error {
	if d.store == nil {
		return nil
	}
	now := d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.since) >= notedFor {
		d.noted, d.since, d.written = [2]spans{{}, d.noted[0]}, now, false
		for _, of := range d.under {
			d.noted[0].addAll(of)
		}
		d.known.forget(now.Add(-doubtedFor))
	}
	own := spans{}
	for _, s := range b.order {
		one := spanOf(s.entries, now)
		own.add(s.labels, one)
		if !d.noted[0].cover(s.labels, one) {
			one.To += notedAhead.Nanoseconds()
			d.noted[0].add(s.labels, one)
			d.written = false
		}
	}
	d.under[b] = own
	if d.written {
		return nil
	}
	all := maps.Clone(d.known)
	all.addAll(d.noted[0])
	all.addAll(d.noted[1])
	text, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("write what is under way: %w", err)
	}
	if err := d.store.Set(ctx, notesKey, text); err != nil {
		return fmt.Errorf("write what is under way: %w", err)
	}
	d.written = true
	return nil
}

func (d *doubts) end(b *batch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.under, b)
}

// add notes a push that may have been taken.
func (d *doubts) add(p push) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range p {
		if len(one.entries) > 0 {
			d.known.add(one.stream.labels, spanOf(one.entries, d.now()))
			d.written = false
		}
	}
}

// of says whether Loki may have some of these entries already.
func (d *doubts) of(one part) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.known) > 0 && d.known.touch(one.stream.labels, spanOf(one.entries, time.Time{}))
}
