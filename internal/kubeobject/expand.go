package kubeobject

import (
	"maps"
	"slices"

	"github.com/faultline-io/faultline/internal/record"
)

// Expand gives the events that the objects among records mean and that are not among the records
// already, as they are where a Collector has read the objects before. Each stands once, in the order of
// keys, whatever the order of the records.
func (ms Mappings) Expand(records []*record.Record) []*record.Record {
	if len(ms) == 0 {
		return nil
	}
	found := map[string]*record.Record{}
	for _, r := range records {
		events, _ := ms.Derive(r)
		for _, e := range events {
			key := e.Key()
			if before, ok := found[key]; ok {
				e, _ = record.Merge(before, e)
			}
			found[key] = e
		}
	}
	if len(found) == 0 {
		return nil
	}
	for _, r := range records {
		if r.Scope == Scope {
			delete(found, r.Key())
		}
	}
	out := make([]*record.Record, 0, len(found))
	for _, key := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[key])
	}
	return out
}
