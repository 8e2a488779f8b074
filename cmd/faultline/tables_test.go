package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/internal/table"
	"github.com/faultline-io/faultline/internal/terminal"
)

// moment of the answers in testdata.
var answered = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

// given reads an answer of testdata.
func given[T any](t *testing.T, name string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(givenText(t, name)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func givenText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "answers", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shapes are the ways in which every table is shown.
var shapes = []struct {
	name   string
	screen terminal.Screen
	look   look
}{
	{"pipe", terminal.Screen{}, look{}},
	{"60", terminal.Screen{Terminal: true, Width: 60, Height: 24}, look{}},
	{"100", terminal.Screen{Terminal: true, Width: 100, Height: 24}, look{}},
	{"200", terminal.Screen{Terminal: true, Width: 200, Height: 24}, look{}},
	{"wide", terminal.Screen{Terminal: true, Width: 60, Height: 24}, look{wide: true}},
	{"utc", terminal.Screen{}, look{utc: true}},
	{"colour", terminal.Screen{Terminal: true, Width: 100, Height: 24, Colour: true}, look{}},
}

// What people see of every answer: as a pipe, at widths, with all columns, with times; and nothing that a record says
// commands their terminal.
func TestTables(t *testing.T) {
	alone(t)
	allocation := given[correlator.Allocation](t, "allocation")
	kinds := map[string]func(w *bytes.Buffer, l *look, s terminal.Screen) error{
		"list": func(w *bytes.Buffer, l *look, s terminal.Screen) error {
			return l.write(w, s, answered, nil, func() view { return viewList(l, given[allocationList](t, "allocations"), answered) })
		},
		"stuck": func(w *bytes.Buffer, l *look, s terminal.Screen) error {
			return l.write(w, s, answered, nil, func() view { return viewStuck(l, given[incident.StuckList](t, "stuck"), answered) })
		},
		"drift": func(w *bytes.Buffer, l *look, s terminal.Screen) error {
			return l.write(w, s, answered, nil, func() view { return viewDrift(l, given[incident.DriftList](t, "drift"), answered) })
		},
		"incidents": func(w *bytes.Buffer, l *look, s terminal.Screen) error {
			return l.write(w, s, answered, nil, func() view { return viewIncidents(l, given[incident.List](t, "incidents"), answered) })
		},
		"timeline": func(w *bytes.Buffer, l *look, s terminal.Screen) error {
			return l.page(w, s, answered).timeline(allocation.Timeline, allocation)
		},
		"events": func(w *bytes.Buffer, l *look, s terminal.Screen) error {
			return printEvents(t, w, l.page(w, s, answered), false)
		},
		"search": func(w *bytes.Buffer, l *look, s terminal.Screen) error {
			return printEvents(t, w, l.page(w, s, answered), true)
		},
		"verdict": func(w *bytes.Buffer, l *look, s terminal.Screen) error {
			p := l.page(w, s, answered)
			for _, name := range []string{"allocation", "contested", "undetermined", "none"} {
				a := given[correlator.Allocation](t, name)
				p.head(a)
				p.verdict(a.Verdict, false)
				p.evidence(a)
				p.blank()
			}
			return nil
		},
		"details": func(w *bytes.Buffer, l *look, s terminal.Screen) error {
			p := l.page(w, s, answered)
			detailStuck(p, given[incident.StuckList](t, "stuck"))
			detailIncidents(p, given[incident.List](t, "incidents"))
			return nil
		},
	}
	for kind, print := range kinds {
		for _, shape := range shapes {
			name := kind + "-" + shape.name
			t.Run(name, func(t *testing.T) {
				var b bytes.Buffer
				l := shape.look
				if err := print(&b, &l, shape.screen); err != nil {
					t.Fatal(err)
				}
				golden(t, name+".txt", b.String())
				for line := range strings.Lines(b.String()) {
					line = strings.TrimSuffix(line, "\n")
					if strings.ContainsFunc(line, unicode.IsControl) && !shape.screen.Colour {
						t.Errorf("a control character: %q", line)
					}
					if shape.screen.Colour && (strings.Contains(line, "\x1b[2J") || strings.ContainsAny(line, "\x07\u009b\u202e")) {
						t.Errorf("a record commands the terminal: %q", line)
					}
					if w := table.Width(line); shape.screen.Width > 0 && !l.wide && !shape.screen.Colour && w > shape.screen.Width {
						t.Errorf("%d cells: %s", w, line)
					}
				}
			})
		}
	}
}

func printEvents(t *testing.T, w *bytes.Buffer, p *page, ages bool) error {
	t.Helper()
	e := newEventPrinter(w, p, ages)
	for _, one := range given[api.Events](t, "events").Events {
		if err := e.print(one); err != nil {
			return err
		}
	}
	return e.flush()
}

// The answers as programs read them: JSON as it was sent, identifiers one a line and each once.
func TestOutputsForPrograms(t *testing.T) {
	alone(t)
	f := newFake(t, map[string]string{
		"/api/v1/allocations": givenText(t, "allocations"), "/api/v1/stuck": givenText(t, "stuck"), "/api/v1/drift": givenText(t, "drift"), "/api/v1/incidents": givenText(t, "incidents"),
		"/api/v1/events": givenText(t, "events"), "/api/v1/search": givenText(t, "events"), "/api/v1/allocations/a-7": givenText(t, "allocation"),
	})
	for args, ids := range map[string]string{
		"list": "a-7\n割り当て-2\na-3\na-4\na-5\n", "stuck": "a-7\na-9\n", "drift": "a-2\n", "incidents": "i-36cc17da6249b2b8\ni-9886cdafc481ea86\n",
		"events a-7": "e-41c3f127227d8524\ne-12acd76ca9409369\n", "search x": "e-41c3f127227d8524\ne-12acd76ca9409369\n", "verdict a-7": "a-7\n", "timeline a-7": "a-7\n",
	} {
		words := append(strings.Fields(args), "--server", f.url)
		if out, _, err := say(t, append(words, "-o", "id")...); err != nil || out != ids {
			t.Errorf("%s: %v %q", args, err, out)
		}
		asJSON, _, err := say(t, append(words, "--json")...)
		if err != nil || !json.Valid([]byte(asJSON)) && !strings.HasPrefix(args, "events") && !strings.HasPrefix(args, "search") {
			t.Errorf("%s: %v %.100q", args, err, asJSON)
		}
		if same, _, err := say(t, append(words, "-o", "json")...); err != nil || same != asJSON {
			t.Errorf("%s: -o json is not --json: %v %.100q", args, err, same)
		}
		if _, _, err := say(t, append(words, "--json", "-o", "id")...); err == nil {
			t.Errorf("%s: --json and -o id", args)
		}
	}
	if _, _, err := say(t, "list", "-o", "tabel"); err == nil || !strings.Contains(err.Error(), "did you mean table?") {
		t.Error(err)
	}
}

// What narrows a list is sent under its name.
func TestListFiltersAreSent(t *testing.T) {
	alone(t)
	f := newFake(t, map[string]string{"/api/v1/allocations": givenText(t, "allocations")})
	if _, _, err := say(t, "list", "--server", f.url, "--state", "failed", "--layer", "cert", "--outcome", "attributed", "--stuck", "--owner", "platform PKI", "--provider", "aap",
		"--text", "expired", "--tenant", "blue", "--since", "2026-03-02T00:00:00Z", "--limit", "5"); err != nil {
		t.Fatal(err)
	}
	want := url.Values{
		"from": {"2026-03-02T00:00:00Z"}, "layer": {"cert"}, "limit": {"5"}, "outcome": {"attributed"}, "owner": {"platform PKI"}, "provider": {"aap"},
		"state": {"failed"}, "stuck": {"true"}, "tenant": {"blue"}, "text": {"expired"},
	}
	if asked, err := url.Parse(f.asked[0]); err != nil || len(f.asked) != 1 || !reflect.DeepEqual(asked.Query(), want) {
		t.Errorf("%v %v", f.asked, err)
	}
	if _, _, err := say(t, "list", "--server", f.url, "--state", "faild"); err == nil || !strings.Contains(err.Error(), "did you mean failed?") {
		t.Error(err)
	}
	if _, _, err := say(t, "list", "--server", f.url, "--since", "2h"); err != nil || !strings.Contains(f.asked[1], "from=20") {
		t.Errorf("%v %v", f.asked, err)
	}
	f.set("/api/v1/allocations", `{"allocations":[{"allocation_id":"a-1","state":null,"since":null,"last_seen":"2026-03-02T09:00:00Z"}]}`)
	if out, notes, err := say(t, "list", "--server", f.url, "--stuck=false"); err != nil || !strings.Contains(notes, "older than this command") || !strings.Contains(out, "a-1  -        -  -      -") {
		t.Errorf("%v\n%s%s", err, out, notes)
	}
}

// For the incident's channel: the owner in the heading, what a record says quoted as it is, and nobody called by it.
func TestMarkdown(t *testing.T) {
	alone(t)
	answers := map[string]string{}
	for _, name := range []string{"allocation", "contested", "undetermined", "none"} {
		a := given[correlator.Allocation](t, name)
		answers["/api/v1/allocations/"+a.ID] = givenText(t, name)
	}
	f := newFake(t, answers)
	var all strings.Builder
	for _, id := range []string{"a-7", "a-8", "a-9", "a-3"} {
		out, _, err := say(t, "verdict", id, "--markdown", "--server", f.url)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s\n", out)
	}
	golden(t, "verdict.md", all.String())
	if got := quoted("@channel <!here> [x](y) *b* `c` #1"); strings.Contains(got, "@channel") || strings.Contains(got, "<!") || strings.Contains(got, " *b*") {
		t.Errorf("%q", got)
	}
	if got := codeSpan("a ``b`` `"); got != "``` a ``b`` ` ```" {
		t.Errorf("%q", got)
	}
}

// Only what is asked for of a timeline.
func TestTimelineParts(t *testing.T) {
	alone(t)
	f := newFake(t, map[string]string{"/api/v1/allocations/a-7": givenText(t, "allocation")})
	out, _, err := say(t, "timeline", "a-7", "--evidence", "--server", f.url)
	if err != nil || strings.Count(out, "\n") != 7 || !strings.Contains(out, legend) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, _, err = say(t, "timeline", "a-7", "--layer", "workflow", "--server", f.url); err != nil || strings.Contains(out, "ingress") || !strings.Contains(out, "queued") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, notes, err := say(t, "timeline", "a-7", "--layer", "db", "--server", f.url); err != nil || !strings.Contains(notes, "nothing of layer db; there is something of workflow, ingress, node") {
		t.Errorf("%v\n%s", err, notes)
	}
	if out, _, err = say(t, "timeline", "a-7", "--server", f.url); err != nil {
		t.Fatal(err)
	}
	contains(t, out, "… 27 minutes without a word …", "… 24 hours without a word …")
}
