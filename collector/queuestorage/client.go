package queuestorage

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// client is the storage of one queue, which calls it under a lock of its own, in four ways:
//
//	Get(metadata)                    once, at the start
//	Batch(Set metadata, Set item)    to take an item
//	Batch(Set metadata, Get item)    to hand one out
//	Batch(Set metadata, Delete item) when it was delivered
type client struct {
	storage.Client
	room room
	log  *zap.Logger

	mu        sync.Mutex
	leftovers []*storage.Operation // deletions that found no room
}

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
	switch {
	case has(storage.Get):
		return c.handOut(ctx, ops)
	case has(storage.Delete):
		return c.delivered(ctx, ops)
	}
	if err := c.room.check(); err != nil {
		c.tidy(ctx)
		return err
	}
	return c.Client.Batch(ctx, ops...)
}

// handOut reads, whether or not the metadata can be written: an error would make the queue drop the item.
func (c *client) handOut(ctx context.Context, ops []*storage.Operation) error {
	err := c.Client.Batch(ctx, ops...)
	if err == nil {
		return nil
	}
	c.log.Debug("an item is handed out without a note of it", zap.Error(err))
	for _, o := range ops {
		if o.Type == storage.Get {
			if o.Value, err = c.Client.Get(ctx, o.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// delivered deletes, and what was left over before, or leaves that for later. The queue needs no error: whatever the
// disk still says is under way is delivered again after a restart.
func (c *client) delivered(ctx context.Context, ops []*storage.Operation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.Client.Batch(ctx, append(slices.Clip(ops), c.leftovers...)...); err == nil {
		c.leftovers = nil
		return nil
	}
	if err := c.Client.Batch(ctx, ops...); err == nil {
		return nil
	}
	for _, o := range ops {
		if o.Type == storage.Delete {
			c.leftovers = append(c.leftovers, o)
		}
	}
	return nil
}

// tidy deletes what was left over, where the disk lets it.
func (c *client) tidy(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.leftovers) > 0 && c.Client.Batch(ctx, c.leftovers...) == nil {
		c.leftovers = nil
	}
}

// Walk passes on what file_storage can do.
func (c *client) Walk(ctx context.Context, fn storage.WalkFunc) error {
	if w, ok := c.Client.(storage.Walker); ok {
		return w.Walk(ctx, fn)
	}
	return nil
}
