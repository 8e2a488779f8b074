package lokiexporter

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// refusal is what Loki said of entries that it will never take, while it took the rest of the push.
type refusal struct {
	reason string
	count  int // wholeStream: all entries of the stream
	text   string
}

// wholeStream is the count of a refusal of labels.
const wholeStream = -1

// place stands in an answer for the labels of the push's streams, whose values may say anything.
const place = "{}"

// sentence is one way in which Loki (pkg/validation/validate.go, pkg/ingester/stream.go; 2.9 to 3.7) refuses entries.
type sentence struct {
	reason string
	whole  bool // it is said once for all entries of a stream
	form   *regexp.Regexp
}

// like stands before a sentence that is said of several entries.
const like = `(?:(\d+) errors like: )?`

func of(reason string, whole bool, form string) sentence {
	return sentence{reason, whole, regexp.MustCompile(`(?i)^` + like + form + `(?:; |\s*$)`)}
}

var sentences = []sentence{
	of(refusedTooOld, false, `entry for stream '{}' has timestamp too old: \S+, oldest acceptable timestamp is: [^;\s]+`),
	of(refusedTooNew, false, `entry for stream '{}' has timestamp too new: [^;\s]+`),
	of(refusedLine, false, `max entry size '\d+' bytes exceeded for stream '{}' while adding an entry with length '\d+' bytes`),
	of(refusedMetadata, false, `stream '{}' has structured metadata too large: '\d+' bytes, limit: '\d+' bytes\.[^;]*`),
	of(refusedMetadata, false, `stream '{}' has too many structured metadata labels: '\d+', limit: '\d+'\.[^;]*`),
	of(refusedLabels, true, `entry for stream '{}' has \d+ label names; limit \d+`),
	of(refusedLabels, true, `stream '{}' has label name too long: '[^']*'`),
	of(refusedLabels, true, `stream '{}' has label value too long: '(?s:.*?)'`),
	of(refusedLabels, true, `stream '{}' has duplicate label name: '[^']*'`),
	of(refusedLabels, true, `missing required labels '[^']*' for user '[^']*' for stream '{}' \(policy: '[^']*'\)`),
}

// behind is how an ingester refuses entries: it lists some, and says how many there are.
var behind = regexp.MustCompile(`^(?s:entry with timestamp .* ignored, reason: 'entry (?:too far behind|out of order).*)total ignored: (\d+) out of \d+ for stream: {}$`)

// explain reads an answer of 400 to a push. It is explained if every word of it is of a sentence that Loki says when it has taken
// all other entries; then nothing needs to be sent again.
func explain(text string, p push) (refusals []refusal, explained bool) {
	for _, one := range p {
		text = strings.ReplaceAll(text, one.stream.labels, place)
	}
	text = strings.TrimSpace(text)
	if m := behind.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return []refusal{{reason: refusedBehind, count: n, text: text}}, len(p) == 1
	}
	for text != "" {
		one, rest := next(text)
		if one == nil {
			return nil, false
		}
		refusals, text = append(refusals, *one), rest
	}
	return refusals, len(refusals) > 0
}

// next reads one sentence.
func next(text string) (*refusal, string) {
	for _, s := range sentences {
		m := s.form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		r := &refusal{reason: s.reason, count: 1, text: strings.TrimRight(m[0], "; \n")}
		if n, err := strconv.Atoi(m[1]); err == nil {
			r.count = n
		}
		if s.whole {
			r.count = wholeStream
		}
		return r, text[len(m[0]):]
	}
	return nil, text
}

// overRate is how an ingester says that a stream is over its rate: the entries before the first one that it lists are stored.
var overRate = regexp.MustCompile(`^entry with timestamp (\S+ \S+) \+0000 UTC ignored, reason: 'Per stream rate limit`)

// before is what Loki has taken of a push that it throttled. Sent again with the rest, these entries would use up the stream's
// rate, and the same ones would be left out each time.
func before(p push, text string) push {
	m := overRate.FindStringSubmatch(text)
	if m == nil || len(p) != 1 {
		return nil
	}
	at, err := time.Parse("2006-01-02 15:04:05.999999999", m[1])
	if err != nil {
		return nil
	}
	one := p[0]
	n := 0
	for n < len(one.entries) && one.entries[n].time < at.UnixNano() {
		n++
	}
	return push{{one.stream, one.entries[:n]}}
}
