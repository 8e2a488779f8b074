package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
)

func TestATokenAndWhatItWasSpentOn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		ctx := context.Background()
		s := storetest.Open(t, target, store.Options{})
		must := func(f func(tx *store.Tx) error) {
			t.Helper()
			if err := s.Update(ctx, "test", f); err != nil {
				t.Fatal(err)
			}
		}
		must(func(tx *store.Tx) error { return tx.RegisterNode("n-1", "p") })
		must(func(tx *store.Tx) error { return tx.PutEnrolment("h", "n-1", tx.Now().Add(time.Minute)) })
		must(func(tx *store.Tx) error {
			if e, err := tx.Enrolment("h"); err != nil || e.NodeID != "n-1" || !e.UsedAt.IsZero() || e.Key != "" {
				t.Errorf("%+v, %v", e, err)
			}
			if _, err := tx.Enrolment("g"); !store.IsNotFound(err) {
				t.Error(err)
			}
			if _, err := tx.UseEnrolment("h"); err != nil {
				return err
			}
			n, err := tx.Node("n-1")
			if err != nil {
				return err
			}
			if err := tx.OpenInstance(&n, "ni-1", "b-1", "host"); err != nil {
				return err
			}
			return tx.PutEnrolmentUse("h", "ni-1", "key")
		})
		must(func(tx *store.Tx) error {
			if e, err := tx.Enrolment("h"); err != nil || e.UsedAt.IsZero() || e.InstanceID != "ni-1" || e.Key != "key" {
				t.Errorf("%+v, %v", e, err)
			}
			if _, err := tx.HeldTask("n-1", "ni-1"); !store.IsNotFound(err) {
				t.Error(err)
			}
			return tx.Booted("n-1", "ni-1", "b-2")
		})
	})
}
