package correlator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/record"
)

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

func after(word, s string) string {
	if s == "" {
		return ""
	}
	return word + " " + s
}

func because(s string) string {
	if s == "" {
		return ""
	}
	return "(" + firstLine(s, "") + ")"
}

func arrow(from, to string) string {
	if from == "" {
		return to
	}
	return from + " → " + to
}

func firstOf(all ...string) string { return cmp.Or(all...) }

// firstLine is the first line of a text, at most 240 bytes of it, or a substitute for an empty one.
func firstLine(text, substitute string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
	if line == "" {
		return substitute
	}
	if short := record.Truncate(line, 240); short != line {
		return short + "…"
	}
	return line
}

// tellingPart is what of a text of several lines says what happened: a traceback's last line (Python), the last cause of an exception
// (Java, .NET); of other texts all.
func tellingPart(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "\n") {
		return text
	}
	if i := strings.LastIndex(text, "\nCaused by: "); i >= 0 {
		return text[i+1:]
	}
	if strings.Contains(text, "Traceback (most recent call last)") {
		return text[strings.LastIndex(text, "\n")+1:]
	}
	return text
}

func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func holdsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

func clockRange(from, to int64) string {
	clock := func(t int64) string { return strings.TrimSuffix(Time(t).String()[11:], "Z") }
	short := func(s string) string { return s[:min(len(s), 8)] }
	return short(clock(from)) + "–" + short(clock(to))
}

// Template is a text without what differs from one time to the next: words with digits.
func Template(text string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		if !strings.ContainsAny(word, "0123456789") {
			b.WriteString(word)
			b.WriteByte(' ')
		}
	}
	return b.String()
}
