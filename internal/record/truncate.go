package record

import "unicode/utf8"

// Truncate gives the beginning of a text, at most n bytes of it, cut where a character ends.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
