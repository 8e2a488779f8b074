package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/story"
)

// kept is a store that keeps verdicts.
type kept struct {
	query.Store
	history *memory.VerdictHistory
}

func (k kept) Assessments(ctx context.Context, asOf int64) ([]correlator.Assessment, int, error) {
	return k.history.Assessments(ctx, asOf)
}

func (k kept) History(ctx context.Context, allocation string, most int) ([]correlator.Revision, error) {
	return k.history.History(ctx, allocation, most)
}

// keep judges the tale twice, before and after its task was given up, and keeps both verdicts.
func keep(t *testing.T) func(query.Store) query.Store {
	return func(l query.Store) query.Store {
		p, err := profile.Load("")
		if err != nil {
			t.Fatal(err)
		}
		history := &memory.VerdictHistory{}
		var before *correlator.Assessment
		for _, at := range []time.Duration{10*time.Hour + 2*time.Second, 10*time.Hour + 3*time.Minute} {
			records, err := story.Parse(tale)
			if err != nil {
				t.Fatal(err)
			}
			moment := story.Day.Add(at).UnixNano()
			s := query.Assess(correlator.NewDataset(records, nil, p, correlator.AsOf{Until: moment}), rules.All())[0]
			r, ok := correlator.Revise(before, s, nil)
			if !ok {
				t.Fatal("no change")
			}
			r.JudgedAt = correlator.Time(moment)
			twice := r // by two replicas, while one hands over to the other
			twice.JudgedAt++
			if err := history.Write(t.Context(), []correlator.Revision{r, twice}); err != nil {
				t.Fatal(err)
			}
			before = &s
		}
		return kept{l, history}
	}
}

func TestAcross(t *testing.T) {
	for name, h := range map[string]http.Handler{"judged on read": handler(t, plain), "kept": handler(t, keep(t))} {
		for path, want := range map[string]string{
			"/api/v1/rules": "rules rules_version tiebreaks",
			"/api/v1/stuck": "allocations as_of examined orphans",
			"/api/v1/stuck?layer=cert&as_of=2026-03-02T10:00:02Z": "allocations as_of examined orphans",
			"/api/v1/drift": "as_of drift examined",
			"/api/v1/incidents?open=false&victims=1&layer=cert": "as_of examined incidents",
			"/api/v1/allocations/a-1/reasoning":                 "allocation_id reasoning since state verdict",
		} {
			if code, _, body := get(t, h, path); code != http.StatusOK || keysOf(body) != want {
				t.Errorf("%s: %s: %d %s, want %s", name, path, code, keysOf(body), want)
			}
		}
		_, _, body := get(t, h, "/api/v1/incidents")
		found := body["incidents"].([]any)
		if len(found) != 1 || body["examined"] != 1.0 {
			t.Fatalf("%s: %v", name, body)
		}
		in := found[0].(map[string]any)
		if in["layer"] != "cert" || in["subject"].(map[string]any)["kind"] != "certificate" || len(in["victims"].([]any)) != 1 {
			t.Errorf("%s: %v", name, in)
		}
		if _, _, body := get(t, h, "/api/v1/incidents?victims=2"); len(body["incidents"].([]any)) != 0 {
			t.Errorf("%s: %v", name, body)
		}
		if _, _, body := get(t, h, "/api/v1/incidents?as_of=2026-03-02T10:00:02Z"); len(body["incidents"].([]any)) != 0 {
			t.Errorf("%s: nothing had happened by then: %v", name, body)
		}
	}
}

func TestHistory(t *testing.T) {
	h := handler(t, keep(t))
	code, _, body := get(t, h, "/api/v1/allocations/a-1/history")
	if code != http.StatusOK || keysOf(body) != "allocation_id revisions" {
		t.Fatalf("%d %v", code, body)
	}
	revisions := body["revisions"].([]any)
	if len(revisions) != 2 {
		t.Fatalf("%v", revisions)
	}
	last := revisions[1].(map[string]any)
	if keysOf(last) != "allocation_id assessment changed_by differs high_water judged_at why" {
		t.Errorf("%v", last)
	}
	if _, _, body := get(t, h, "/api/v1/allocations/a-1/history?limit=2"); len(body["revisions"].([]any)) != 1 {
		t.Errorf("%v", body)
	}
	for path, want := range map[string]int{
		"/api/v1/allocations/nobody/history":       http.StatusNotFound,
		"/api/v1/allocations/a-1/history?limit=x":  http.StatusBadRequest,
		"/api/v1/allocations/nobody/reasoning":     http.StatusNotFound,
		"/api/v1/stuck?layer=nova":                 http.StatusBadRequest,
		"/api/v1/stuck?as_of=soon":                 http.StatusBadRequest,
		"/api/v1/stuck?as_of=9999-12-31T00:00:00Z": http.StatusBadRequest,
		"/api/v1/incidents?victims=0":              http.StatusBadRequest,
		"/api/v1/incidents?open=perhaps":           http.StatusBadRequest,
	} {
		if code, kind, _ := get(t, h, path); code != want || kind != "application/problem+json" {
			t.Errorf("%s: %d %s, want %d", path, code, kind, want)
		}
	}
}
