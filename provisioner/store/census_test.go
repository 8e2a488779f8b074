package store_test

import (
	"testing"

	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
)

// Every census can be asked of both databases; what there is none of is no group.
func TestCensus(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		s := storetest.Open(t, target, store.Options{})
		if err := s.Update(t.Context(), "test", func(tx *store.Tx) error { return tx.RegisterNode("n-1", "p") }); err != nil {
			t.Fatal(err)
		}
		for name, read := range map[string]func(*store.Tx) ([]store.Group, error){
			"nodes": (*store.Tx).CountNodes, "messages": (*store.Tx).CountUnsent, "jobs": (*store.Tx).CountUnobservedJobs,
		} {
			if err := s.View(t.Context(), "census", func(tx *store.Tx) error {
				list, err := read(tx)
				if name == "nodes" && (len(list) != 1 || list[0].Kind != "free" || list[0].Count != 1) || name != "nodes" && len(list) != 0 {
					t.Errorf("%s: %v", name, list)
				}
				return err
			}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
