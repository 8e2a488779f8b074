package profile

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A shape finds what its expression finds, in any text.
func TestShapesFindWhatTheirExpressionsFind(t *testing.T) {
	for _, expr := range []string{
		`req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`,
		`(?:^|[^0-9a-f-])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`,
		`(?:^|[^0-9a-f-])([0-9a-f]{2}-[0-9a-f]{2})`, // short ones meet, touch and overlap
		`[^a](b-[0-9]{2})`,
		`([ab]{2}-)`,
		`-{2}a`,
		`a[0-9]`,
	} {
		s := shapeOf(expr)
		if s == nil {
			t.Errorf("%s has no shape", expr)
			continue
		}
		re := regexp.MustCompile(expr)
		piece := rapid.SampledFrom([]string{"a", "b", "0", "7", "-", "--", " ", "é", "\xff", "ab-", "b-12", "a1-b2", "req-",
			"b9000564-fe1a-409b-b8cc-1e88b294cd1d", "req-3ea4052c-895d-4b64-9e2d-04d64c4d94ab", "2017-05-16"})
		rapid.Check(t, func(t *rapid.T) {
			text := strings.Join(rapid.SliceOfN(piece, 0, 24).Draw(t, "text"), "")
			var want, got []int
			for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
				want = append(want, m[len(m)-2], m[len(m)-1])
			}
			for from := 0; ; {
				start := s.next(text, from)
				if start < 0 {
					break
				}
				from = start + len(s.places)
				got = append(got, start, from)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s in %q: %v, the expression finds %v", expr, text, got, want)
			}
		})
	}
}

func TestWhatHasNoShape(t *testing.T) {
	for _, expr := range []string{``, `a*`, `a+-`, `(a)(b)`, `(?i)req-`, `[^a]-`, `a|b`, `^a-`, `é-`, `a{2,3}-`, `([^a])-`, `[a-b](c-)`, `.-`, `\ba-`, `[ab]{3}`, `a{0}-{0}`} {
		if s := shapeOf(expr); s != nil {
			t.Errorf("%q has a shape of %d bytes", expr, len(s.places))
		}
	}
}
