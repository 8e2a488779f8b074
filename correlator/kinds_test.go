package correlator

import (
	"testing"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// An event has a bit for each kind of identifier that its record carries, and says the same of every kind with and without them.
func TestKindsOfAnEvent(t *testing.T) {
	for k := range identity.Kinds() {
		if k >= 31 {
			t.Fatalf("there is no bit for kind %d", k)
		}
		keys := identity.Keys{{Kind: identity.Allocation, ID: "a-1"}, {Kind: k, ID: "x"}}
		with, without := Event{Record: &record.Record{Keys: keys}, kinds: kindsOf(keys)}, Event{Record: &record.Record{Keys: keys}}
		for other := range identity.Kinds() {
			if got, want := with.Own(other), without.Own(other); got != want {
				t.Errorf("of a record with %v: %v is %q, want %q", keys, other, got, want)
			}
		}
	}
}
