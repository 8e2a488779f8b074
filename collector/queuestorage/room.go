package queuestorage

import (
	"fmt"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// room is what a disk has to have left. It is looked at before every write: that costs a microsecond, a synced write a
// thousand.
type room struct {
	dir   string
	least int64 // bytes
}

// check refuses where there is less. A disk that does not say counts as roomy: the write itself will tell.
func (r room) check() error {
	free, err := freeBytes(r.dir)
	if err != nil || free >= r.least {
		return nil //nolint:nilerr // see above
	}
	return fmt.Errorf("%w: the disk of %s has %d MiB left, fewer than min_free_mib (%d)", storage.ErrStorageFull, r.dir, free>>20, r.least>>20)
}
