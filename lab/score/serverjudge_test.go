package score

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/product"
)

// What was said counts from when it was said, in the order of the history.
func TestWhatWasSaid(t *testing.T) {
	said := func(second int64, outcome string, faults ...correlator.Fault) correlator.Revision {
		return correlator.Revision{JudgedAt: correlator.Time(second * int64(time.Second)), Assessment: correlator.Assessment{Verdict: correlator.Verdict{Outcome: outcome, Faults: faults}}}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = correlator.Allocation{}
		if strings.HasSuffix(r.URL.Path, "/history") {
			answer = api.History{ID: "a-1", Revisions: []correlator.Revision{
				said(5, correlator.None), said(7, correlator.Attributed, correlator.Fault{Layer: "api_auth", Mechanism: "policy"}),
			}}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	j := &ServerJudge{product.Server(server.URL)}
	got, err := j.Rule(t.Context(), "a-1")
	if err != nil {
		t.Fatal(err)
	}
	want := []Ruling{{Outcome: correlator.None, At: time.Unix(5, 0)}, {Outcome: correlator.Attributed, Blames: []string{"api_auth/policy"}, At: time.Unix(7, 0)}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	alarms, err := j.Alarms(t.Context(), "a-1")
	if err != nil || len(alarms) != 1 || inWords(alarms[0]) != "attributed api_auth/policy" {
		t.Errorf("%q, %v", alarms, err)
	}
}

// The moves of tasks and their agents' own requests about them count; what others tell of the same requests does not.
func TestTaskActions(t *testing.T) {
	at := func(second int64) correlator.Time { return correlator.Time(second * int64(time.Second)) }
	claim := map[string]string{semconv.ClaimID: "cl-1"}
	over := at(7)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, next := api.Events{}, "2"
		switch r.URL.Query().Get("cursor") {
		case "":
			page.Next = &next
			page.Events = []query.FullEvent{
				{Name: semconv.EventTaskState, Time: at(1), Attributes: map[string]string{semconv.ClaimID: "cl-1", semconv.To: "dispatched", semconv.LeaseUntil: "1970-01-01T00:00:03Z"}},
				{Name: semconv.EventTaskState, Time: at(4), Attributes: map[string]string{semconv.ClaimID: "cl-1", semconv.To: "lost"}},
				{Name: semconv.EventTaskState, Time: at(4), Attributes: map[string]string{semconv.To: "queued"}},
			}
		default:
			page.Events = []query.FullEvent{
				{Name: "renew", Layer: semconv.LayerNodeAgent, Time: at(5), End: &over, Status: "error", Attributes: claim},
				{Name: "renew claim", Layer: semconv.LayerDB, Time: at(5), End: &over, Attributes: claim},
				{Name: "provision", Layer: semconv.LayerNodeAgent, Time: at(1), End: &over, Attributes: claim},
			}
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	defer server.Close()
	got, err := (&ServerJudge{product.Server(server.URL)}).TaskActions(t.Context(), "a-1")
	want := []TaskAction{
		{Claim: "cl-1", Move: "dispatched", At: time.Unix(1, 0), End: time.Unix(1, 0), LeaseUntil: time.Unix(3, 0)},
		{Claim: "cl-1", Move: "lost", At: time.Unix(4, 0), End: time.Unix(4, 0)},
		{Claim: "cl-1", At: time.Unix(5, 0), End: time.Unix(7, 0), Failed: true},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
}
