// Package localized reads messages of programs that speak another language than English: those of PostgreSQL and of the C library, which every program
// shows for an errno. What they are in other languages is from the catalogues that their own translators keep; tools/localize makes messages.tsv of them.
package localized

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/faultline-io/faultline/internal/needles"
)

//go:generate go run -C ../../tools/localize . -o ../../internal/localized/messages.tsv

//go:embed messages.tsv
var table string

// shortest is how many bytes of a translation have to stand together in a text: less than that is in many texts by chance.
const shortest = 10

// longestValue is how much of a text may stand where a message has a placeholder.
const longestValue = 200

// message is one message in one language, in lower case.
type message struct {
	english []string // what stands between its placeholders
	parts   []string // the same in that language
	ordered bool     // the placeholders stand in the same order in both
	rarest  int      // the longest of parts
}

// catalogue has all messages, and the longest part of each to find it by.
type catalogue struct {
	messages []message
	parts    *needles.Set
}

var load = sync.OnceValue(func() *catalogue {
	c, words := &catalogue{}, []needles.Word(nil)
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		m, ok := newMessage(fields[0], fields[2])
		if !ok {
			continue
		}
		words = append(words, needles.Word{Text: m.parts[m.rarest], Owner: len(c.messages)})
		c.messages = append(c.messages, m)
	}
	c.parts = needles.New(words)
	return c
})

// placeholder is what printf replaces. "%2$s" stands for the second argument, wherever it stands.
var placeholder = regexp.MustCompile(`%(?:\d+\$)?[-+ #0]*\d*(?:ll|l|z|h)?[a-zA-Z]`)

// newMessage reads a line of the table. ok is false where too little of it stands in every text that it is in, or where a text in English has it, too.
func newMessage(english, text string) (m message, ok bool) {
	english, text = strings.ToLower(english), strings.ToLower(text)
	m = message{english: placeholder.Split(english, -1), parts: placeholder.Split(text, -1)}
	m.ordered = !strings.Contains(text, "$") && len(m.english) == len(m.parts)
	for i, part := range m.parts {
		if len(part) > len(m.parts[m.rarest]) {
			m.rarest = i
		}
	}
	rarest := m.parts[m.rarest]
	return m, len(rarest) >= shortest && !strings.Contains(english, strings.TrimSpace(rarest))
}

// found is a message in a text: where it stands, and what it says in English.
type found struct {
	from, to int
	english  string
}

// English says what the messages in a text are in English, in lower case, a line for each; "" where the text has none. The text is in lower case.
func English(text string) string {
	c := load()
	var all []found
	c.parts.In(text, func(owner, at int) {
		if f, ok := c.messages[owner].in(text, at); ok {
			all = append(all, f)
		}
	})
	if len(all) == 0 {
		return ""
	}
	var lines []string
	for i, f := range all {
		within := func(o found) bool { return o.from <= f.from && f.to <= o.to && o.to-o.from > f.to-f.from }
		if !slices.ContainsFunc(all, within) && !slices.Contains(lines, all[i].english) {
			lines = append(lines, f.english)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// in finds the message whose longest part stands at a place of a text.
func (m *message) in(text string, at int) (found, bool) {
	f := found{at, at + len(m.parts[m.rarest]), ""}
	values := make([]string, len(m.parts)-1)
	for i := m.rarest - 1; i >= 0; i-- {
		before := text[max(0, f.from-longestValue-len(m.parts[i])):f.from]
		j := strings.LastIndex(before, m.parts[i])
		if m.parts[i] == "" { // the text begins with a value: it is one word
			j = strings.LastIndexAny(before, " \n:") + 1
		}
		if j < 0 || strings.Contains(before[j:], "\n") {
			return f, false
		}
		values[i] = before[j+len(m.parts[i]):]
		f.from -= len(before) - j
	}
	for i := m.rarest + 1; i < len(m.parts); i++ {
		after := text[f.to:min(len(text), f.to+longestValue+len(m.parts[i]))]
		j := strings.Index(after, m.parts[i])
		if m.parts[i] == "" { // it ends with a value: the rest of the line
			j = len(after)
			if end := strings.IndexByte(after, '\n'); end >= 0 {
				j = end
			}
		}
		if j < 0 || strings.Contains(after[:j], "\n") {
			return f, false
		}
		values[i-1] = after[:j]
		f.to += j + len(m.parts[i])
	}
	f.english = m.say(values)
	return f, true
}

// say is the message in English with its values, or without them where it is not known which of them is which.
func (m *message) say(values []string) string {
	if !m.ordered {
		return strings.Join(strings.Fields(strings.Join(m.english, " ")), " ")
	}
	var b strings.Builder
	for i, part := range m.english {
		b.WriteString(part)
		if i < len(values) {
			b.WriteString(values[i])
		}
	}
	return b.String()
}
