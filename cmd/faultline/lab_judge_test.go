package main

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
	"github.com/faultline-io/faultline/internal/lab/score"
)

// What was said counts from when it was said, in the order of the history.
func TestWhatWasSaid(t *testing.T) {
	said := func(second int64, outcome string, faults ...correlator.Fault) correlator.Revision {
		return correlator.Revision{JudgedAt: correlator.Time(second * int64(time.Second)), Standing: correlator.Standing{Verdict: correlator.Verdict{Outcome: outcome, Faults: faults}}}
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
	j := &serverJudge{question: question{server: server.URL}}
	got, err := j.Rule(t.Context(), "a-1")
	if err != nil {
		t.Fatal(err)
	}
	want := []score.Ruling{{Outcome: correlator.None, At: time.Unix(5, 0)}, {Outcome: correlator.Attributed, Blames: []string{"api_auth/policy"}, At: time.Unix(7, 0)}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	alarms, err := j.Alarms(t.Context(), "a-1")
	if err != nil || len(alarms) != 1 || alarms[0] != "attributed api_auth/policy" {
		t.Errorf("%q, %v", alarms, err)
	}
}
