package queuestorage

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// client is the storage of one queue, which calls it under a lock of its own, in four ways:
//
//	Get(metadata)                    once, at the start
//	Batch(Set metadata, Set item)    to take an item
//	Batch(Set metadata, Get item)    to hand one out
//	Batch(Set metadata, Delete item) when it was delivered
//
// Every write is synced, so the fewer the faster a backlog goes out: only taking needs one at once. Small items are read
// several at a time, and deleted together with whatever is written next.
type client struct {
	storage.Client
	room room
	log  *zap.Logger

	mu        sync.Mutex
	delivered []*storage.Operation // deletions that were not written yet
	metadata  *storage.Operation   // the newest, where it was not written yet
	flushing  *time.Timer          // writes them when nothing else does
	ahead     map[string][]byte    // items that were read before they were asked for
	closed    bool
}

const (
	small     = 64 << 10 // bytes of an item whose followers are read along with it
	readAhead = 8        // so many
	atMost    = 1024     // deletions that wait
	idle      = time.Second
)

// Get reads a value; the queue's metadata is given so that the queue goes on with the first item not delivered.
func (c *client) Get(ctx context.Context, key string) ([]byte, error) {
	value, err := c.Client.Get(ctx, key)
	if err == nil && key == metadataKey {
		var first uint64
		if value, first = resume(value); first > 0 {
			c.sweep(ctx, first)
		}
	}
	return value, err
}

// sweep deletes what was delivered before the first item, if another process left it.
func (c *client) sweep(ctx context.Context, first uint64) {
	swept := 0
	err := c.Walk(ctx, func(key string, _ []byte) ([]*storage.Operation, error) {
		if index, err := strconv.ParseUint(key, 10, 64); err == nil && index < first {
			swept++
			return []*storage.Operation{storage.DeleteOperation(key)}, nil
		}
		return nil, nil
	})
	if err != nil || swept > 0 {
		c.log.Info("swept what was delivered before", zap.Int("items", swept), zap.Error(err))
	}
}

// Batch applies the operations together.
func (c *client) Batch(ctx context.Context, ops ...*storage.Operation) error {
	has := func(t storage.OpType) bool {
		return slices.ContainsFunc(ops, func(o *storage.Operation) bool { return o.Type == t })
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case has(storage.Get):
		return c.handOut(ctx, ops)
	case has(storage.Delete):
		c.remember(ops)
		return nil
	}
	if err := c.room.check(); err != nil {
		c.flush(ctx) // the room may be our own
		return err
	}
	if len(c.delivered) > 0 && c.Client.Batch(ctx, append(slices.Clip(ops), c.delivered...)...) == nil {
		c.written()
		return nil
	}
	err := c.Client.Batch(ctx, ops...)
	if err == nil {
		c.metadata = nil // these are newer
	}
	return err
}

// handOut reads, whether or not anything can be written: an error would make the queue drop the item. A note that an
// item is under way is worth nothing: after a restart it is read again in any case.
func (c *client) handOut(ctx context.Context, ops []*storage.Operation) error {
	var reads []*storage.Operation
	for _, o := range ops {
		if o.Type != storage.Get {
			c.metadata = o
		} else if value, ok := c.ahead[o.Key]; ok {
			o.Value = value
			delete(c.ahead, o.Key)
		} else {
			reads = append(reads, o)
		}
	}
	if len(reads) == 0 {
		return nil
	}
	follow := c.following(reads)
	if len(c.delivered) > 0 || c.metadata != nil {
		if err := c.Client.Batch(ctx, slices.Concat(c.unwritten(), reads, follow)...); err == nil {
			c.written()
			c.keep(reads, follow)
			return nil
		}
	}
	if err := c.Client.Batch(ctx, slices.Concat(reads, follow)...); err != nil {
		return err
	}
	c.keep(reads, follow)
	return nil
}

// following asks for the items after the one that is read; nothing where reads are no item's.
func (c *client) following(reads []*storage.Operation) (follow []*storage.Operation) {
	index, err := strconv.ParseUint(reads[0].Key, 10, 64)
	if err != nil || len(reads) > 1 || c.ahead == nil {
		return nil
	}
	for n := range uint64(readAhead) {
		follow = append(follow, storage.GetOperation(strconv.FormatUint(index+1+n, 10)))
	}
	return follow
}

// keep remembers what was read ahead. Where items are large nothing is read ahead, so that memory stays small.
func (c *client) keep(reads, follow []*storage.Operation) {
	c.ahead = nil
	if len(reads) == 1 && len(reads[0].Value) > 0 && len(reads[0].Value) <= small {
		c.ahead = map[string][]byte{}
	}
	for _, o := range follow {
		if c.ahead != nil && o.Value != nil && len(o.Value) <= small {
			c.ahead[o.Key] = o.Value
		}
	}
}

// remember leaves deletions for the next write. The queue needs no error: whatever the disk still says is there is
// delivered again after a restart.
func (c *client) remember(ops []*storage.Operation) {
	for _, o := range ops {
		if o.Type == storage.Delete {
			c.delivered = append(c.delivered, o)
		} else {
			c.metadata = o
		}
	}
	if len(c.delivered) >= atMost {
		c.flush(context.Background())
	}
	if c.flushing == nil && !c.closed {
		c.flushing = time.AfterFunc(idle, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.flushing = nil
			if !c.closed {
				c.flush(context.Background())
			}
		})
	}
}

func (c *client) unwritten() []*storage.Operation {
	if c.metadata == nil {
		return c.delivered
	}
	return append([]*storage.Operation{c.metadata}, c.delivered...)
}

func (c *client) written() { c.delivered, c.metadata = nil, nil }

// flush writes what waits, where the disk lets it.
func (c *client) flush(ctx context.Context) {
	if ops := c.unwritten(); len(ops) > 0 {
		if err := c.Client.Batch(ctx, ops...); err != nil {
			c.log.Debug("what was delivered is not deleted yet", zap.Int("items", len(c.delivered)), zap.Error(err))
			return
		}
		c.written()
	}
}

// Close writes what waits and closes the storage.
func (c *client) Close(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flushing != nil {
		c.flushing.Stop()
	}
	c.flush(ctx)
	c.closed = true
	return c.Client.Close(ctx)
}

// Walk passes on what file_storage can do.
func (c *client) Walk(ctx context.Context, fn storage.WalkFunc) error {
	if w, ok := c.Client.(storage.Walker); ok {
		return w.Walk(ctx, fn)
	}
	return nil
}
