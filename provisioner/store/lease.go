package store

import (
	"fmt"
	"time"
)

// Lease takes or keeps, until the given time, what only one replica does at a time. false: another one
// has it. A process that has its database for itself has every lease.
func (t *Tx) Lease(name, holder string, until time.Time) (bool, error) {
	if !t.store.dialect.shared {
		return true, nil
	}
	n, err := t.exec(`INSERT INTO leases (name, holder, until) VALUES (?1, ?2, ?3)
		ON CONFLICT (name) DO UPDATE SET holder = ?2, until = ?3 WHERE leases.holder = ?2 OR leases.until <= ?4`, name, holder, nanos(until), nanos(t.Now()))
	if err != nil {
		return false, fmt.Errorf("lease %s: %w", name, err)
	}
	return n == 1, nil
}

// Shared reports whether other processes may work on the same database.
func (s *Store) Shared() bool { return s.dialect.shared }

// IsShared reports whether several processes may work on the database that a target of Open names.
func IsShared(target string) bool { return dialectOf(target).shared }
