package queuestorage

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// position is the storage of a receiver that notes how far it has read before it hands on what it has read there, as
// that of journals does: killed in between, or stopped while a full queue has it wait, it would go on behind a line
// that is nowhere. What it notes is therefore written when it notes the next one; the last line of a process may be
// read again by the next, and counts once by its key.
type position struct {
	storage.Client

	mu      sync.Mutex
	waiting map[string][]byte // noted, and not written yet
}

// Get gives what this process noted last, else what was written.
func (p *position) Get(ctx context.Context, key string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if value, ok := p.waiting[key]; ok {
		return value, nil
	}
	return p.Client.Get(ctx, key)
}

// Set writes what was noted before. The very first is written at once: a receiver without any position would begin
// at the end.
func (p *position) Set(ctx context.Context, key string, value []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, ok := p.waiting[key]
	if !ok {
		written, err := p.Client.Get(ctx, key)
		if err != nil {
			return err
		}
		before, ok = value, written == nil
	}
	if p.waiting == nil {
		p.waiting = map[string][]byte{}
	}
	if ok {
		if err := p.Client.Set(ctx, key, before); err != nil {
			return err
		}
	}
	p.waiting[key] = value
	return nil
}
