package store

import (
	"database/sql"
	"time"
)

// Group is how many there are of one kind, and since when the oldest.
type Group struct {
	Kind   string
	Count  int
	Oldest time.Time // zero where it is not known
}

func (t *Tx) census(query string) (out []Group, err error) {
	err = t.rows(func(r *sql.Rows) error {
		var g Group
		var at int64
		if err := r.Scan(&g.Kind, &g.Count, &at); err != nil {
			return err
		}
		if at != 0 {
			g.Oldest = timeOf(at)
		}
		out = append(out, g)
		return nil
	}, query)
	return out, err
}

// CountNodes counts nodes; since when they are in it is not known.
func (t *Tx) CountNodes() ([]Group, error) {
	return t.census(`SELECT occupancy, count(*), 0 FROM nodes GROUP BY occupancy ORDER BY occupancy`)
}

// CountUnsent counts messages whose last attempt failed, and those that nobody tries any more, by state.
func (t *Tx) CountUnsent() ([]Group, error) {
	return t.census(`SELECT state, count(*), min(created_at) FROM outbox WHERE state IN ('dead', 'failed') GROUP BY state ORDER BY state`)
}

// CountUnobservedJobs counts jobs that are not over and whose last call failed, by provider.
func (t *Tx) CountUnobservedJobs() ([]Group, error) {
	return t.census(`SELECT provider, count(*), min(polled_at) FROM provider_jobs WHERE phase <> 'ended' AND failure <> '' GROUP BY provider ORDER BY provider`)
}
