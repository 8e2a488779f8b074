package correlator

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

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

// shownOfLine is how many bytes of a line are shown; half of its end where it is longer: an error's chain has its cause there.
const shownOfLine = 240

// firstLine is the first line of a text, or its begin and end where it is long, or a substitute for an empty one.
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
	if len(line) <= shownOfLine {
		return line
	}
	end := line[len(line)-shownOfLine/2:]
	for len(end) > 0 && !utf8.RuneStart(end[0]) {
		end = end[1:]
	}
	return record.Truncate(line, shownOfLine/2) + " … " + end
}

// tellingPart is what of a text of several lines says what happened: a traceback's last line (Python), the last cause of an exception
// (Java, .NET); of a JSON object its message and its error; of other texts all.
func tellingPart(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		if part := tellingFields(text); part != "" {
			return part
		}
	}
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

// messageFields and errorFields are where programs that write JSON put what they say and why (zap, logrus, slog, bunyan, pino, structlog, Serilog, ECS,
// journald, a container's runtime).
var (
	messageFields = []string{"msg", "message", "MESSAGE", "@message", "@m", "RenderedMessage", "event", "log", "short_message", "textPayload"}
	errorFields   = []string{"err", "error", "error.message", "exc", "exception", "reason", "cause", "detail"}
)

// tellingFields are the message of a JSON object and its error; "" where it has neither.
func tellingFields(text string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(text), &fields) != nil {
		return ""
	}
	word := func(names []string) string {
		for _, name := range names {
			value := fields[name]
			if inner, ok := value.(map[string]any); ok {
				value = cmp.Or(inner["message"], inner["msg"])
			}
			if s, ok := value.(string); ok && strings.TrimSpace(s) != "" {
				return tellingPart(s)
			}
		}
		return ""
	}
	message, why := word(messageFields), word(errorFields)
	switch {
	case message == "" || strings.Contains(why, message):
		return why
	case strings.Contains(message, why):
		return message
	}
	return message + ": " + why
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
