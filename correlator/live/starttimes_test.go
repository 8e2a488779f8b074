package live

import (
	"context"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/story"
)

// Began is what the store says of records that name their allocation.
func (s *store) Began(_ context.Context, allocations []string) (map[string]int64, error) {
	if s.away {
		return nil, errAway
	}
	out := map[string]int64{}
	for _, id := range allocations {
		for _, r := range s.records {
			if a, _ := r.Attrs.Get("allocation_id"); a != id {
				continue
			}
			if at, ok := out[id]; !ok || r.Time < at {
				out[id] = r.Time
			}
		}
	}
	return out, nil
}

const turnedAway = `
10:00:00 ingress-proxy error allocation_id=a-1 tls.client.subject=CN=n-7 | client certificate of CN=n-7 refused: x509: certificate has expired or is not yet valid
`

// A story is read where it may have begun before this process followed, and only there.
func TestStoriesThatBeganHereAreNotRead(t *testing.T) {
	ten := story.Day.Add(10 * time.Hour)
	for name, c := range map[string]struct {
		began  time.Time
		before string // what the store had taken an hour ago
		want   int    // stories read
	}{
		"began here":                                 {ten.Add(-time.Minute), "", 0},
		"stamped before this process":                {ten.Add(time.Minute), "", 1},
		"began before this process":                  {ten.Add(-time.Minute), "09:00:00 api info allocation_id=a-1 | hello\n", 1},
		"of another, before":                         {ten.Add(-time.Minute), "09:00:00 api info allocation_id=a-0 | hello\n", 0},
		"nobody says when allocations begin":         {time.Time{}, "", 1},
		"left the working set, and is heard of anew": {ten.Add(-2 * time.Hour), "09:00:00 api info allocation_id=a-1 | hello\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			g := newStage(t, st, "r-1")
			g.cfg.Adopt = 0 // all that was there would be read
			if !c.began.IsZero() {
				g.from.StartTimes, g.Service.began = st, c.began
			}
			if c.before != "" {
				st.take(g.clock.Add(-time.Hour), parse(t, c.before)...)
			}
			st.take(g.clock, parse(t, turnedAway)...)
			g.settle(t)
			if st.stories != c.want {
				t.Errorf("%d stories read, want %d", st.stories, c.want)
			}
			if len(g.history(t)) == 0 {
				t.Error("nothing was said of a-1")
			}
		})
	}
}

// A store that is away is waited for.
func TestBeginningsOfAStoreThatIsAway(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	g.cfg.Adopt, g.from.StartTimes, g.Service.began = 0, st, story.Day
	st.take(g.clock, parse(t, turnedAway)...)
	if err := g.take(t.Context(), g.clock); err != nil {
		t.Fatal(err)
	}
	st.away = true
	if err := g.judge(t.Context(), g.clock); err == nil {
		t.Error("it judged what it could not know to be whole")
	}
	st.away = false
	g.settle(t)
	if len(g.history(t)) == 0 || st.stories != 0 {
		t.Errorf("said %q, %d stories read", g.history(t), st.stories)
	}
}
