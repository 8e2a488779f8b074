package table

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// ellipsis stands for what was clipped.
const ellipsis = "…"

// cells measures as terminals of today draw: characters of ambiguous width are narrow, whatever the locale says.
var cells = &runewidth.Condition{StrictEmojiNeutral: true}

// Width is how many cells of a terminal a text takes.
func Width(s string) int { return cells.StringWidth(s) }

// Clip cuts a text to so many cells; "…" stands for the rest.
func Clip(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return cells.Truncate(s, width, ellipsis)
}

// Clean makes a text of anybody's safe to print on one line: line breaks and tabs become blanks; other control characters,
// those that turn the direction of writing or cannot be seen, and bytes that are no UTF-8 are written out as \x1b, \u202e.
func Clean(s string) string {
	if !strings.ContainsFunc(s, needsCare) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n', r == '\t', r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			b.WriteByte(' ')
		case !needsCare(r) || r == utf8.RuneError:
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += size
	}
	return b.String()
}

// CleanLines is Clean for a text of several lines.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Clean(line)
	}
	return strings.Join(lines, "\n")
}

// Safe gives a writer for whole lines, of which nothing commands the terminal that w leads to.
func Safe(w io.Writer) io.Writer { return safe{w} }

type safe struct{ w io.Writer }

func (s safe) Write(p []byte) (int, error) {
	if _, err := io.WriteString(s.w, CleanLines(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// joiners are the invisible characters that scripts and emoji need.
const joiners = "\u200c\u200d"

func needsCare(r rune) bool {
	switch {
	case r == utf8.RuneError:
		return true
	case r >= ' ' && r < 0x7f:
		return false
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && !strings.ContainsRune(joiners, r) || r == '\u2028' || r == '\u2029'
}

// Wrap breaks a text between words into lines of so many cells. A word that is longer stays whole, as an address or an
// identifier has to be copied; 0 wraps nothing.
func Wrap(s string, width int) []string {
	if width <= 0 || Width(s) <= width {
		return []string{s}
	}
	var lines []string
	line, taken := "", 0
	for _, word := range strings.Fields(s) {
		w := Width(word)
		if line != "" && taken+1+w > width {
			lines = append(lines, line)
			line, taken = "", 0
		}
		if line != "" {
			line, taken = line+" ", taken+1
		}
		line, taken = line+word, taken+w
	}
	return append(lines, line)
}
