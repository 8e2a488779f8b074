package overview

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// told writes down what a watcher is told of.
type told struct{ said []string }

func (w *told) Moved(m Move) {
	w.said = append(w.said, fmt.Sprintf("%s>%s stayed %s, %s %s %s", m.From, m.To, time.Duration(m.Stayed), m.Operation, m.Outcome, time.Duration(m.Took)))
}
func (w *told) Judged(from, to string) { w.said = append(w.said, "judged "+from+">"+to) }

// become puts an allocation into a state at a second of the story.
func (s *store) become(id, state string, at time.Duration) {
	begun := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	since := correlator.Time(begun.Add(at).UnixNano())
	s.at = int64(since)
	s.hear(id, state)
	h := s.heads[id]
	h.Since = &since
	s.heads[id] = h
}

func TestAWatcherIsToldOfChanges(t *testing.T) {
	s, w := newStore(), &told{}
	s.become("before", "active", 0)
	o, look := looking(t, s, DefaultConfig())
	o.WithWatcher(w)
	look() // what was there is no change
	for _, step := range []struct {
		id, state string
		at        time.Duration
	}{
		{"a", "requested", time.Second}, {"a", "provisioning", 5 * time.Second}, {"a", "active", time.Minute}, {"b", "active", time.Minute},
		{"a", "releasing", 2 * time.Minute}, {"a", "release_failed", 3 * time.Minute}, {"a", "releasing", 4 * time.Minute}, {"a", "released", 5 * time.Minute},
		{"c", "reserved", 6 * time.Minute}, {"c", "failed", 7 * time.Minute}, {"before", "released", 8 * time.Minute},
	} {
		s.become(step.id, step.state, step.at)
		look()
		look() // it is told once
	}
	s.say("r-1", "c", correlator.Undetermined)
	look()
	s.say("r-1", "c", correlator.Undetermined)
	look()
	s.say("r-1", "c", correlator.Attributed)
	look()
	want := []string{
		">requested stayed -1ns,   0s",
		"requested>provisioning stayed 4s,   0s",
		"provisioning>active stayed 55s, provision succeeded 59s",
		">active stayed -1ns, provision succeeded 0s",
		"active>releasing stayed 1m0s,   0s",
		"releasing>release_failed stayed 1m0s, release failed 1m0s",
		"release_failed>releasing stayed 1m0s,   0s",
		"releasing>released stayed 1m0s, release succeeded 3m0s",
		">reserved stayed -1ns,   0s",
		"reserved>failed stayed 1m0s, provision failed 1m0s",
		"active>released stayed 8m0s,   0s", // when its release began was not seen
		"judged >undetermined",
		"judged undetermined>attributed",
	}
	var have []string
	for _, one := range w.said {
		if !strings.HasPrefix(one, "failed>active") && !strings.HasPrefix(one, "active>failed") { // say() hears of an active one
			have = append(have, one)
		}
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Error(d)
	}
}

func TestEachIsShown(t *testing.T) {
	s := newStore()
	s.say("r-1", "quiet", correlator.None)
	s.say("r-1", "tells", correlator.Undetermined)
	s.hear("nothing said", "requested")
	s.labels = []query.Label{{Allocation: "tells", Name: query.LabelProvider, Value: "aap"}}
	if New(s, DefaultConfig()).Each(func(Standing) bool { return true }) {
		t.Error("ready before the first reading")
	}
	o, look := looking(t, s, DefaultConfig())
	look()
	n := map[string]int{}
	ok := o.Each(func(one Standing) bool {
		n[fmt.Sprint(one.Outcome, " ", one.Assessment != nil, one.Providers)]++
		return true
	})
	if d := cmp.Diff(map[string]int{"none false []": 1, "undetermined true [aap]": 1, " false []": 1}, n); d != "" || !ok {
		t.Error(d, ok)
	}
}

// mute is a store of which nobody says how far it is judged.
type mute struct {
	*store
	judged int64
	away   bool
}

func (m *mute) Judged(context.Context, time.Duration) (int64, error) {
	if m.away {
		return 0, errors.New("away")
	}
	return m.judged, nil
}
func (m *mute) Now(ctx context.Context) (time.Time, error) {
	if m.away {
		return time.Time{}, errors.New("away")
	}
	return m.store.Now(ctx)
}

func TestHealth(t *testing.T) {
	m := &mute{store: newStore()}
	o, f := New(m, Config{Allocations: 1000}), &follower{seen: map[key]int64{}}
	o.now = func() time.Time { return time.Unix(0, m.at) }
	o.looked = o.now()
	is := func(what string, behind, looked time.Duration, keepsUp bool, check string) {
		t.Helper()
		_ = o.look(t.Context(), f)
		h := o.Health()
		said := ""
		if err := o.Check(t.Context()); err != nil {
			said = err.Error()
		}
		if h.Behind != behind || h.Looked != looked || h.KeepsUp != keepsUp || said != check {
			t.Errorf("%s: %+v, %q", what, h, said)
		}
	}
	pass := func(d time.Duration) { m.at += int64(d) }
	m.away = true
	is("not read yet", 0, 0, false, "is being read")
	m.away = false
	is("nothing is there", 0, 0, true, "")
	pass(time.Hour)
	is("nothing arrives", 0, 0, true, "")
	m.hear("a", "active")
	is("something arrived", 0, 0, true, "")
	pass(7 * time.Second)
	is("nobody judges", 7*time.Second, 0, false, "")
	m.judged = m.at - int64(2*time.Second)
	is("all of it is judged", 0, 0, true, "")
	m.hear("a", "active")
	is("more arrived", 0, 0, true, "")
	pass(20 * time.Second)
	m.hear("a", "active")
	m.judged = m.at - int64(3*time.Second)
	is("judging follows under load", 3*time.Second, 0, true, "")
	m.away = true
	pass(20 * time.Second)
	is("the store is away", 23*time.Second, 20*time.Second, false, "waits for the store since 20s")
}
