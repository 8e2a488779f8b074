package rules

import (
	"testing"
	"time"
)

// A link says itself until when it is good; what says so wrongly, or for longer than any can be, is none.
func TestUntilWhenALinkIsGood(t *testing.T) {
	until := func(text string) int64 {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at.UnixNano()
	}
	for text, want := range map[string]int64{
		"get https://s3.example/a/b.raw?x-amz-date=20260301t091500z&x-amz-expires=3600; 403":  until("2026-03-01T10:15:00Z"),
		"\"https://s.example/b?x-goog-expires=60&x-goog-date=20260301t000000z&x-goog-sig=1\"": until("2026-03-01T00:01:00Z"),
		"https://s3.example/b?x-amz-date=20260301t091500z&x-amz-expires=604801":               0,
		"https://s3.example/b?x-amz-date=20260301t091500z&x-amz-expires=-60":                  0,
		"https://s3.example/b?x-amz-date=20260301t091500z&x-amz-expires=5m":                   0,
		"https://s3.example/b?x-amz-date=99990301t091500z&x-amz-expires=3600":                 0,
		"https://s3.example/b?x-amz-date=&x-amz-expires=":                                     0,
		"https://s3.example/%zz?x-amz-date=20260301t091500z&x-amz-expires=3600":               0,
		"https://?x-amz-date=20260301t091500z&x-amz-expires=3600":                             0,
		"x-amz-expires=3600 and no link":                                                      0,
	} {
		if place, got := linkOf(text); got != want || (place == "") != (want == 0) {
			t.Errorf("%s: %q, good until %d, want %d", text, place, got, want)
		}
	}
}

func FuzzLinkOf(f *testing.F) {
	f.Add("https://s3.example/a?x-amz-date=20260301t091500z&x-amz-expires=3600")
	f.Add("https://[::1]:x/%?x-goog-date=1&x-goog-expires=9")
	f.Fuzz(func(t *testing.T, text string) {
		if place, end := linkOf(text); (place == "") != (end == 0) {
			t.Errorf("%q: %q until %d", text, place, end)
		}
	})
}
