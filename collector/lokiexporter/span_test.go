package lokiexporter

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever was added is covered, in a few stretches that are in order and do not touch.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := spans{}
		var added []span
		for range rapid.IntRange(1, 12).Draw(t, "spans") {
			from := rapid.Int64Range(0, 100).Draw(t, "from")
			one := span{From: from, To: from + rapid.Int64Range(0, 10).Draw(t, "length"), Since: rapid.Int64Range(1, 100).Draw(t, "since")}
			s.add("a", one)
			added = append(added, one)
			for _, was := range added {
				if !s.cover("a", was) || !s.touch("a", was) {
					t.Fatalf("%v is not in %v", was, s)
				}
			}
			if len(s["a"]) > maxSpans {
				t.Fatalf("%d stretches", len(s["a"]))
			}
			for i, next := range s["a"] {
				if i > 0 && next.From <= s["a"][i-1].To {
					t.Fatalf("they touch: %v", s)
				}
			}
		}
		if s.touch("b", span{From: 0, To: 200}) {
			t.Fatal("another stream is in doubt")
		}
		s.forget(time.Unix(0, 101))
		if len(s) > 0 {
			t.Fatalf("not forgotten: %v", s)
		}
	})
}
