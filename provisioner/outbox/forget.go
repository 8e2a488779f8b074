package outbox

import (
	"context"
	"time"

	"github.com/faultline-io/faultline/provisioner/store"
)

// forgetEach is how often messages that were published long ago are deleted, forgetAtOnce how many are looked
// at in one transaction: it must not hold up those that write.
const (
	forgetEach   = time.Hour
	forgetAtOnce = 128
)

// Forget deletes messages that were published longer ago than Config.Retention, until ctx ends. Several
// replicas may do so at a time.
func (r *Relay) Forget(ctx context.Context) error {
	if r.config.Retention == 0 {
		return nil
	}
	for ctx.Err() == nil {
		if n, err := r.forget(ctx); err != nil && ctx.Err() == nil {
			r.log.Error("delete published messages", "error", err)
		} else if n > 0 {
			r.log.Info("published messages were deleted", "messages", n, "older_than", r.config.Retention)
		}
		select {
		case <-ctx.Done():
		case <-time.After(forgetEach):
		}
	}
	return nil
}

func (r *Relay) forget(ctx context.Context) (all int64, err error) {
	before := r.store.Now().Add(-r.config.Retention)
	for last := int64(0); ctx.Err() == nil; {
		var n int64
		if err := r.store.Update(ctx, "forget messages", func(t *store.Tx) (err error) {
			last, n, err = t.ForgetMessages(before, last, forgetAtOnce)
			return err
		}); err != nil {
			return all, err
		}
		if all += n; last == 0 {
			break
		}
	}
	return all, ctx.Err()
}
