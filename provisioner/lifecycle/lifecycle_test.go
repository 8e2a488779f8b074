package lifecycle_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

func TestTableIsTheOneThatReadersCheckAgainst(t *testing.T) {
	got := map[string][]string{semconv.Released: {}, semconv.Canceled: {}}
	for _, m := range lifecycle.AllocationMoves() {
		got[m.From] = append(got[m.From], m.To)
	}
	sorted := func(in map[string][]string) map[string][]string {
		out := map[string][]string{}
		for k, v := range in {
			out[k] = slices.Sorted(slices.Values(v))
		}
		return out
	}
	if d := cmp.Diff(sorted(semconv.AllocationMoves), sorted(got)); d != "" {
		t.Fatal(d)
	}
}

func TestRefusalsAreNamed(t *testing.T) {
	f := func(from, to string, facts lifecycle.Facts, want lifecycle.Reason) {
		t.Helper()
		err := lifecycle.MoveAllocation("a-1", from, to, facts)
		var refused *lifecycle.Refusal
		switch {
		case want == lifecycle.Allowed && err != nil:
			t.Fatal(err)
		case want != lifecycle.Allowed && (!errors.As(err, &refused) || refused.Reason != want):
			t.Fatalf("%s to %s: %v, want %s", from, to, err, want)
		}
	}
	f(semconv.Canceling, semconv.Provisioning, lifecycle.Facts{}, lifecycle.IllegalMove)
	f(semconv.Released, semconv.Releasing, lifecycle.Facts{Actor: "u"}, lifecycle.IllegalMove)
	f(semconv.Requested, semconv.Reserved, lifecycle.Facts{}, lifecycle.NodeNotReserved)
	f(semconv.Requested, semconv.Reserved, lifecycle.Facts{Occupancy: lifecycle.Reserved}, lifecycle.Allowed)
	f(semconv.Reserved, semconv.Canceled, lifecycle.Facts{Claimed: true}, lifecycle.WorkBegun)
	f(semconv.Provisioning, semconv.Active, lifecycle.Facts{TasksDone: true}, lifecycle.ReadinessUnproven)
	f(semconv.Provisioning, semconv.Active, lifecycle.Facts{TasksDone: true, Observed: true}, lifecycle.Allowed)
	f(semconv.Provisioning, semconv.Failed, lifecycle.Facts{Occupancy: lifecycle.Occupied}, lifecycle.NodeNotInCleanup)
	f(semconv.Releasing, semconv.Released, lifecycle.Facts{Occupancy: lifecycle.Cleanup}, lifecycle.CleanupUnproven)
	f(semconv.Releasing, semconv.Canceled, lifecycle.Facts{Occupancy: lifecycle.Free, WasActive: true}, lifecycle.WasActive)
	f(semconv.ReleaseFailed, semconv.Releasing, lifecycle.Facts{Actor: "op"}, lifecycle.UnnamedActor)
	f(semconv.ReleaseFailed, semconv.Released, lifecycle.Facts{Actor: "op", Why: "gone", Absent: true}, lifecycle.EvidenceMissing)
	f(semconv.ReleaseFailed, semconv.Released, lifecycle.Facts{Actor: "op", Why: "gone", Absent: true, Evidence: "ticket-1"}, lifecycle.Allowed)
}

// A node that was in use is never given to another allocation without having been free in between.
func TestUseIsNeverFollowedByOtherUse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := []string{lifecycle.Free, lifecycle.Reserved, lifecycle.Occupied, lifecycle.Cleanup, lifecycle.Fenced}
		at, dirty := lifecycle.Free, false
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			to := rapid.SampledFrom(states).Draw(t, "to")
			f := lifecycle.NodeFacts{
				Untouched: rapid.Bool().Draw(t, "untouched") && !dirty,
				Actor:     rapid.SampledFrom([]string{"", "op"}).Draw(t, "actor"),
			}
			if rapid.Bool().Draw(t, "proven") {
				f.Proof = "task t-1"
			}
			from := at
			if lifecycle.MoveNode("n-1", from, to, f) != nil {
				continue
			}
			at = to
			switch to {
			case lifecycle.Occupied:
				dirty = true
			case lifecycle.Reserved:
				if dirty {
					t.Fatalf("reserved from %s with something left on it", from)
				}
			case lifecycle.Free:
				if dirty && f.Proof == "" {
					t.Fatalf("freed from %s without proof", from)
				}
				dirty = false
			}
		}
	})
}

func TestOnlyTheCurrentClaimReports(t *testing.T) {
	current := lifecycle.Claim{ID: "cl-2", Fence: 2, InstanceID: "ni-1"}
	f := func(state string, c lifecycle.Claim, want lifecycle.Reason) {
		t.Helper()
		var refused *lifecycle.Refusal
		err := lifecycle.CheckClaim("t-1", state, current, c)
		if want == lifecycle.Allowed && err != nil || want != "" && (!errors.As(err, &refused) || refused.Reason != want) {
			t.Fatalf("%v, want %q", err, want)
		}
	}
	f(semconv.Running, current, lifecycle.Allowed)
	f(semconv.Running, lifecycle.Claim{ID: "cl-1", Fence: 1, InstanceID: "ni-1"}, lifecycle.StaleFence)
	f(semconv.Running, lifecycle.Claim{ID: "cl-9", Fence: 2, InstanceID: "ni-1"}, lifecycle.WrongClaim)
	f(semconv.Running, lifecycle.Claim{ID: "cl-2", Fence: 3, InstanceID: "ni-1"}, lifecycle.WrongClaim)
	f(semconv.Running, lifecycle.Claim{ID: "cl-2", Fence: 2, InstanceID: "ni-2"}, lifecycle.SupersededInstance)
	f(semconv.Queued, current, lifecycle.LeaseEnded)
	f(semconv.Succeeded, current, lifecycle.TaskOver)
	f(semconv.Canceled, current, lifecycle.TaskOver)
}
