// Package story reads telemetry written for people: one record a line, so that a scenario can be
// understood, and argued about, by someone who wrote none of this.
//
//	# the agent cannot shake hands
//	10:00:05.2  node-agent  error  node_id=n-1  | claim: remote error: tls: expired certificate
//	10:00:07    provisioner task.state  task_id=t-1 to=queued
//	10:00:09    cli         span 120ms error  name="POST /v1/allocations" http.response.status_code=503
//
// Columns: time of day, service.name, what it is (a severity, the name of an event, or "span" with its
// duration and perhaps "error"), attributes, and after "|" the body. observed=TIME sets when it was
// seen, which is a moment after its time otherwise; resource.KEY=VALUE goes to the resource; span_id,
// parent_span_id, trace_id and name are the record's own fields; ids may be short names. "def NAME k=v …" names attributes that
// "@NAME" repeats.
package story

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Day is the date of every story that states none.
var Day = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// SeenAfter is how long after its time a record is seen, where a story does not say.
const SeenAfter = 5 * time.Millisecond

// Parse reads the records of a story. Errors name the line.
func Parse(text string) ([]*record.Record, error) {
	var out []*record.Record
	defs := map[string][]string{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		head, body, _ := strings.Cut(line, "|")
		words, err := split(head)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if words[0] == "def" && len(words) > 2 {
			defs[words[1]] = words[2:]
			continue
		}
		r, err := parseRecord(words, strings.TrimSpace(body), defs)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		out = append(out, r)
	}
	return out, nil
}

var severities = map[string]int{"trace": 1, "debug": 5, "info": 9, "warn": 13, "error": 17, "fatal": 21, "log": 0}

func parseRecord(words []string, body string, defs map[string][]string) (*record.Record, error) {
	if len(words) < 3 {
		return nil, errors.New("wants a time, a service and what it is")
	}
	at, err := clock(words[0])
	if err != nil {
		return nil, err
	}
	r := &record.Record{Signal: record.Log, Time: at, Observed: at + int64(SeenAfter), Service: words[1], Body: body}
	r.Resource = record.Attrs{{Key: semconv.ServiceName, Value: r.Service}}
	rest := words[3:]
	if severity, ok := severities[words[2]]; ok {
		r.Severity = severity
	} else if words[2] == "span" {
		if rest, err = span(r, rest); err != nil {
			return nil, err
		}
	} else {
		r.Name, r.Severity = words[2], severities["info"]
	}
	for _, w := range expand(rest, defs) {
		if err := attribute(r, w); err != nil {
			return nil, err
		}
	}
	r.Attrs, r.Resource = r.Attrs.Sort(), r.Resource.Sort()
	return r, nil
}

func expand(words []string, defs map[string][]string) []string {
	var out []string
	for _, w := range words {
		if name, ok := strings.CutPrefix(w, "@"); ok {
			out = append(out, defs[name]...)
		} else {
			out = append(out, w)
		}
	}
	return out
}

func span(r *record.Record, rest []string) ([]string, error) {
	if len(rest) == 0 {
		return nil, errors.New("a span wants its duration")
	}
	d, err := time.ParseDuration(rest[0])
	if err != nil {
		return nil, err
	}
	r.Signal, r.End = record.Span, r.Time+int64(d)
	r.Observed = r.End
	rest = rest[1:]
	if len(rest) > 0 && rest[0] == "error" {
		r.Status, r.Severity, rest = "error", severities["error"], rest[1:]
	}
	return rest, nil
}

func attribute(r *record.Record, word string) error {
	key, value, ok := strings.Cut(word, "=")
	if !ok {
		return fmt.Errorf("%q is no key=value", word)
	}
	switch {
	case key == "observed":
		at, err := clock(value)
		r.Observed = at
		return err
	case key == "trace_id":
		r.TraceID = hexID(value, 32)
	case key == "span_id":
		r.SpanID = hexID(value, 16)
	case key == "parent_span_id":
		r.ParentID = hexID(value, 16)
	case key == "name" && r.Signal == record.Span:
		r.Name = value
	case key == "kind" && r.Signal == record.Span:
		r.SpanKind = value
	case key == "status_message":
		r.StatusMessage = value
	case strings.HasPrefix(key, "resource."):
		r.Resource = append(r.Resource, record.Attr{Key: strings.TrimPrefix(key, "resource."), Value: value})
	default:
		r.Attrs = append(r.Attrs, record.Attr{Key: key, Value: value})
	}
	return nil
}

// hexID makes an id of n hex digits out of a short name such as t1.
func hexID(name string, n int) string {
	if _, err := hex.DecodeString(name); err == nil && len(name) == n {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])[:n]
}

// clock reads a time of Day, or a full RFC 3339 time.
func clock(text string) (int64, error) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t.UnixNano(), nil
	}
	for _, layout := range []string{"15:04:05.999999999", "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			return Day.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
				time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())).UnixNano(), nil
		}
	}
	return 0, fmt.Errorf("%q is no time", text)
}

// split cuts a line into words; "…" keeps white space together.
func split(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	quoted, started := false, false
	for _, c := range line {
		switch {
		case c == '"':
			quoted, started = !quoted, true
		case !quoted && (c == ' ' || c == '\t'):
			if started {
				out = append(out, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteRune(c)
			started = true
		}
	}
	if quoted {
		return nil, errors.New("a quote is not closed")
	}
	if started {
		out = append(out, word.String())
	}
	return out, nil
}
