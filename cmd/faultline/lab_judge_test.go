package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
)

// What counts is what was said last; a history begins with what was said first.
func TestTheLastWordCounts(t *testing.T) {
	said := func(outcome string, faults ...correlator.Fault) correlator.Revision {
		return correlator.Revision{Standing: correlator.Standing{Verdict: correlator.Verdict{Outcome: outcome, Faults: faults}}}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = correlator.Allocation{}
		if strings.HasSuffix(r.URL.Path, "/history") {
			answer = api.History{ID: "a-1", Revisions: []correlator.Revision{
				said(correlator.None), said(correlator.Attributed, correlator.Fault{Layer: "api_auth", Mechanism: "policy"}),
			}}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	j := &serverJudge{question: question{server: server.URL}}
	r, err := j.Rule(t.Context(), "a-1")
	if err != nil || r.Outcome != correlator.Attributed || len(r.Blames) != 1 || r.Blames[0] != "api_auth/policy" {
		t.Errorf("%+v, %v", r, err)
	}
	alarms, err := j.Alarms(t.Context(), "a-1")
	if err != nil || len(alarms) != 1 || alarms[0] != "attributed api_auth/policy" {
		t.Errorf("%q, %v", alarms, err)
	}
}
