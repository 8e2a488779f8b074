package live

import (
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
)

// Lines are of one kind here as they are in the store, which takes words with digits out by this expression (correlator/clickhouse).
func TestLinesAreOfAKindWithoutTheirWordsWithDigits(t *testing.T) {
	digits := regexp.MustCompile(`[^\s/"?&=,;:()\[\]{}|]*[0-9][^\s/"?&=,;:()\[\]{}|]*`)
	seed := maphash.MakeSeed()
	line := rapid.StringOfN(rapid.RuneFrom([]rune("ab19 /\"?&=,;:()[]{}|\t-.é")), 0, 30, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := line.Draw(t, "a"), line.Draw(t, "b")
		if rapid.Bool().Draw(t, "alike") {
			b = digits.ReplaceAllString(a, "7")
		}
		same := digits.ReplaceAllString(a, "") == digits.ReplaceAllString(b, "")
		if got := wordsWithoutDigits(seed, a) == wordsWithoutDigits(seed, b); got != same {
			t.Fatalf("%q and %q: of a kind %t, in the store %t", a, b, got, same)
		}
	})
}

// Of a kind there are two lines a minute, and a case has those that are closest to its troubles, each once and in order.
func TestOrdinaryLinesAroundATrouble(t *testing.T) {
	var o ordinaryLines
	line := func(second int, service, body string, status int) *correlator.Event {
		e := &correlator.Event{Record: &record.Record{Service: service, Body: body}, At: int64(second) * int64(time.Second), Key: fmt.Sprint(second, service, body)}
		e.HTTP.Status = status
		return e
	}
	for s := range 3600 {
		o.add(line(s, "ingress", fmt.Sprintf("GET /nodes/n-%d/tasks %d", s%7, s), 200))
		o.add(line(s, "ingress", fmt.Sprintf("GET /nodes/n-%d/tasks %d", s%7, s), 503))
		o.add(line(s, "ironic", fmt.Sprint("word", strings.Repeat("x", s%50)), 0))
	}
	if n := len(o.kinds); n != 3 {
		t.Fatalf("%d kinds", n)
	}
	for k, list := range o.kinds {
		if len(list) != 2*60 {
			t.Errorf("%v: %d lines of an hour", k, len(list))
		}
	}
	trouble := &correlator.Trouble{From: 1800 * int64(time.Second), At: 1830 * int64(time.Second)}
	got := o.around([]*correlator.Trouble{trouble}, 3599*int64(time.Second))
	if len(got) != 3*2*closest || !slices.IsSortedFunc(got, correlator.CompareEvents) {
		t.Fatalf("%d lines", len(got))
	}
	for _, e := range got {
		if s := e.At / int64(time.Second); s < 1740 || s > 1861 && s < 3480 {
			t.Errorf("a line at second %d", s)
		}
	}
	lasting := &correlator.Trouble{From: 0, At: 3000 * int64(time.Second), Cleared: 3000 * int64(time.Second)}
	if between := o.during([]*correlator.Trouble{lasting, lasting}, 3599*int64(time.Second)); len(between) != 3*2*5+3 || !slices.IsSortedFunc(between, correlator.CompareEvents) {
		t.Errorf("%d lines of 50 minutes and a second", len(between))
	}
	first := got[0]
	if !o.remove(first) || o.remove(first) {
		t.Error("a line was not removed once")
	}
	moved := got[1]
	from := moved.At
	moved.At += int64(3 * time.Hour)
	o.moved(moved, from)
	if after := o.around([]*correlator.Trouble{trouble}, 3599*int64(time.Second)); slices.Contains(after, first) || slices.Contains(after, moved) {
		t.Error("what was removed, or lies elsewhere now, is given")
	}
	o.bound(int64(6 * time.Hour))
	if len(o.kinds) != 0 {
		t.Errorf("%d kinds are kept of which nothing was heard for hours", len(o.kinds))
	}
}

// Of a minute the first two lines of a kind are kept, as a store gives them, whatever came first.
func TestOrdinaryLinesOfAMinuteInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Permutation([]int{0, 7, 7, 20, 41, 59, 60, 61, 119}).Draw(t, "seconds")
		var o ordinaryLines
		for _, s := range seconds {
			o.add(&correlator.Event{Record: &record.Record{Service: "ironic", Body: "said"}, At: int64(s) * int64(time.Second), Key: fmt.Sprint(s)})
		}
		var kept []int
		for _, list := range o.kinds {
			for _, e := range list {
				kept = append(kept, int(e.At/int64(time.Second)))
			}
		}
		if want := []int{0, 7, 60, 61}; !slices.Equal(kept, want) {
			t.Fatalf("%v are kept of %v, want %v", kept, seconds, want)
		}
	})
}
