package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
)

// Each parameter of the list narrows it, whether memory answers or the store: with the same allocations, and the same said of each.
func TestTheListIsNarrowed(t *testing.T) {
	p := newPlatform(t, twoTenants)
	p.settled(t, `"layer":"cert"`, `"tenant":"blue"`, `"tenant":"red"`, `"provider":"aap"`)
	prof, err := profile.Load("")
	must(t, err)
	stored := api.New(&query.Service{Store: p.store, Profile: prof, Rules: rules.All(), Labels: p.store, Standings: p.store}, prof, rules.All(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()).
		Handler(http.NotFoundHandler())
	first := asked[api.Timeline](t, p, "/allocations/a-blue/timeline").Timeline[0].Time
	stamp := func(after time.Duration) string {
		return url.QueryEscape(time.Unix(0, int64(first)+int64(after)).UTC().Format(time.RFC3339Nano))
	}
	both := func(question string) (memory, store api.AllocationList) {
		t.Helper()
		memory = asked[api.AllocationList](t, p, "/allocations?"+question)
		_, _, body := get(t, stored, "/api/v1/allocations?"+question)
		text, err := json.Marshal(body)
		must(t, err)
		must(t, json.Unmarshal(text, &store))
		for _, list := range [][]query.Listed{memory.Allocations, store.Allocations} {
			for i := range list {
				list[i].OverdueSeconds = 0 // goes on
			}
		}
		return memory, store
	}
	for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(50 * time.Millisecond) { // until memory has what the store has
		if memory, store := both(""); cmp.Equal(memory, store) {
			break
		}
	}
	f := func(question, want string) {
		t.Helper()
		memory, store := both(question)
		var ids []string
		for _, one := range memory.Allocations {
			ids = append(ids, one.ID)
		}
		if have := strings.Join(ids, " "); have != want {
			t.Errorf("%s: %s, want %s", question, have, want)
		}
		if d := cmp.Diff(memory, store); d != "" {
			t.Errorf("%s: of memory (-), of the store (+):\n%s", question, d)
		}
	}
	f("", "a-none a-red a-blue")
	f("limit=1", "a-none")
	f("state=failed", "a-red a-blue")
	f("state=requested", "a-none")
	f("layer=cert", "a-red a-blue")
	f("outcome=attributed&state=failed&layer=cert", "a-red a-blue")
	f("outcome=none", "a-none")
	f("stuck=true", "")
	f("stuck=false&limit=2", "a-none a-red")
	f("owner=platform+PKI", "a-red a-blue")
	f("owner=platform", "")
	f("provider=aap", "a-blue")
	f("provider=eda", "")
	f("tenant=blue", "a-blue")
	f("tenant=red", "a-red")
	f("text=EXPIRED+cert", "a-red a-blue")
	f("text=a-red", "a-red")
	f("text=a-red+a-blue", "")
	f("from="+stamp(155*time.Second), "a-none")
	f("to="+stamp(119*time.Second), "a-blue")
	f("from="+stamp(time.Minute)+"&to="+stamp(2*time.Minute+time.Second), "a-red a-blue")
	f("sort=last_seen", "a-none a-red a-blue")
	f("sort=allocation_id", "a-blue a-none a-red")
	f("sort=allocation_id&limit=2", "a-blue a-none")
	f("sort=allocation_id&limit=2&cursor=a-none", "a-red")
}
