package api_test

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

func TestRecordsPageByPage(t *testing.T) {
	h := handler(t, plain)
	for question, want := range map[string]int{
		"/api/v1/events?allocation_id=a-1":    6,
		"/api/v1/events?node_id=n-7":          3,
		"/api/v1/events?workflow_id=w-1":      3,
		"/api/v1/events?allocation_id=nobody": 0,
		"/api/v1/events?allocation_id=a-1&from=2026-03-02T10:00:00.4Z&to=2026-03-02T10:00:00.6Z": 2,
		"/api/v1/search?text=certificate+refused":                                                1,
		"/api/v1/search?severity=error&layer=ingress":                                            1,
		"/api/v1/search?service=provisioner&service=api&attr=to%3Dexpired":                       1,
		"/api/v1/search?attr=allocation_id%3Da-1":                                                6,
	} {
		refs, path := map[string]bool{}, question+"&limit=2"
		for pages := 0; path != ""; pages++ {
			code, _, body := get(t, h, path)
			if code != http.StatusOK || keysOf(body) != "as_of bounded events next_cursor" || pages > 10 {
				t.Fatalf("%s: %d %v", path, code, body)
			}
			for _, e := range body["events"].([]any) {
				refs[e.(map[string]any)["ref"].(string)] = true
			}
			next, _ := body["next_cursor"].(string)
			if path = ""; next != "" {
				path = question + "&limit=2&cursor=" + url.QueryEscape(next)
			}
		}
		if len(refs) != want {
			t.Errorf("%s: %d records, want %d", question, len(refs), want)
		}
	}
}

func TestProblemsOfRecords(t *testing.T) {
	h := handler(t, plain)
	_, _, first := get(t, h, "/api/v1/events?allocation_id=a-1&limit=2")
	cursor := url.QueryEscape(first["next_cursor"].(string))
	for path, says := range map[string]string{
		"/api/v1/events": "name one of allocation_id, node_id",
		"/api/v1/events?allocation_id=a-1&node_id=n-7":                                       "name one",
		"/api/v1/events?allocation_id=a%00b":                                                 "identifier",
		"/api/v1/events?allocation_id=a-1&from=yesterday":                                    "RFC 3339",
		"/api/v1/events?allocation_id=a-1&to=2300-01-01T00:00:00Z":                           "between the years 1900 and 2261",
		"/api/v1/events?allocation_id=a-1&limit=1001":                                        "from 1 to 1000",
		"/api/v1/events?allocation_id=a-1&cursor=x":                                          "no cursor of this question",
		"/api/v1/events?node_id=n-7&limit=2&cursor=" + cursor:                                "of another question",
		"/api/v1/events?allocation_id=a-1&cursor=" + cursor[:20]:                             "no cursor of this question",
		"/api/v1/events?allocation_id=a-1&from=2026-03-02T10:00:01Z&to=2026-03-02T10:00:01Z": "end does not lie after its beginning",
		"/api/v1/search?text=%2C%2C":                                                         "without a letter or digit",
		"/api/v1/search?severity=loud":                                                       "none of trace",
		"/api/v1/search?layer=attic":                                                         "no layer",
		"/api/v1/search?attr=x":                                                              "not name=value",
	} {
		code, kind, body := get(t, h, path)
		if code != http.StatusBadRequest || kind != "application/problem+json" || !strings.Contains(body["detail"].(string), says) {
			t.Errorf("%s: %d %v", path, code, body)
		}
	}
}

// greedy is a store that refuses to read so much.
type greedy struct{ query.Store }

func (greedy) Search(context.Context, query.Query, query.Position) iter.Seq2[*correlator.Event, error] {
	return func(yield func(*correlator.Event, error) bool) {
		yield(nil, &query.TooMuch{Limit: "than 5 rows to be read"})
	}
}

func TestASearchThatReadsTooMuchSaysHowToNarrowIt(t *testing.T) {
	h := handler(t, func(l query.Store) query.Store { return greedy{l} })
	code, _, body := get(t, h, "/api/v1/search?text=x")
	if code != http.StatusUnprocessableEntity || !strings.Contains(body["detail"].(string), "more than 5 rows") || !strings.Contains(body["detail"].(string), "narrow the time") {
		t.Errorf("%d %v", code, body)
	}
}

// The description names every field of a record, and no other.
func TestARecordIsDescribed(t *testing.T) {
	h := handler(t, plain)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]any
			}
		}
	}
	if err := yaml.Unmarshal(description(t, h), &doc); err != nil {
		t.Fatal(err)
	}
	described := doc.Components.Schemas["FullEvent"]
	_, _, body := get(t, h, "/api/v1/events?allocation_id=a-1")
	for _, e := range body["events"].([]any) {
		for field := range e.(map[string]any) {
			if described.Properties[field] == nil {
				t.Errorf("%s is not described", field)
			}
		}
		for _, field := range described.Required {
			if _, ok := e.(map[string]any)[field]; !ok {
				t.Errorf("%s is missing", field)
			}
		}
	}
}
