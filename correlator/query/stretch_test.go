package query

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStretches(t *testing.T) {
	const minute = int64(time.Minute)
	at := func(minutes int64, source string) Moment { return Moment{minutes * minute, source} }
	f := func(apart time.Duration, most int, moments []Moment, want ...string) {
		t.Helper()
		var got []string
		for _, s := range Stretches(moments, apart, most) {
			got = append(got, fmt.Sprint(int64(s.From)/minute, "-", (int64(s.To)-1)/minute, " ", s.Sources))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s, %d: %s", apart, most, d)
		}
	}
	moments := []Moment{at(100, "kernel"), at(0, "api"), at(3, "operator"), at(4, "api"), at(104, "kernel"), at(120, "api")}
	f(time.Minute, 1, moments, "0-120 [api kernel operator]")
	f(time.Minute, 2, moments, "0-4 [api operator]", "100-120 [api kernel]")
	f(time.Minute, 3, moments, "0-4 [api operator]", "100-104 [kernel]", "120-120 [api]")
	f(5*time.Minute, 9, moments, "0-4 [api operator]", "100-104 [kernel]", "120-120 [api]")
	f(time.Hour, 9, moments, "0-4 [api operator]", "100-120 [api kernel]")
	f(0, 0, moments[:1], "100-100 [kernel]") // one at least
	f(0, 9, nil)
	f(0, 9, []Moment{at(1, "a"), at(1, "b")}, "1-1 [a b]")
}

// Every moment lies in a stretch that names its source; stretches are in order, apart, and no more than asked for.
func TestStretchesHoldEveryMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moments := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Moment {
			return Moment{rapid.Int64Range(0, 1000).Draw(t, "time"), rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "source")}
		})).Draw(t, "moments")
		apart, most := rapid.Int64Range(1, 200).Draw(t, "apart"), rapid.IntRange(1, 8).Draw(t, "most")
		all := Stretches(moments, time.Duration(apart), most)
		if len(all) > most {
			t.Fatalf("%d stretches of %d", len(all), most)
		}
		for i, s := range all {
			if s.To <= s.From || i > 0 && int64(s.From-all[i-1].To)+1 < apart {
				t.Fatalf("%v after %v", s, all[:i])
			}
		}
		for _, m := range moments {
			held := 0
			for _, s := range all {
				for _, source := range s.Sources {
					if int64(s.From) <= m.Time && m.Time < int64(s.To) && source == m.Source {
						held++
					}
				}
			}
			if held != 1 {
				t.Fatalf("%v is in %d stretches of %v", m, held, all)
			}
		}
	})
}
