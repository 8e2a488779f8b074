package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// keptLines has as many lines as are asked for, and says in each what was asked.
type keptLines struct{ away error }

func (k *keptLines) Lines(_ context.Context, q query.LineQuestion) ([]query.Line, error) {
	if k.away != nil {
		return nil, &query.LinesUnavailable{Where: "loki:3100", Err: k.away}
	}
	var out []query.Line
	for i := range min(q.Most, 3) {
		out = append(out, query.Line{Time: correlator.Time(q.From + int64(i)), Line: fmt.Sprintf("%s %s=%s", strings.Join(q.Sources, ","), q.Key, q.ID), Labels: map[string]string{"service_name": q.Sources[0]}})
	}
	return out, nil
}

func TestLinesAroundARecord(t *testing.T) {
	c, p := newContract(t), newPlatform(t, twoTenants)
	p.settled(t, `"layer":"cert"`)
	_, body := p.do(t, "all", http.MethodGet, "/api/v1/allocations/a-blue", "")
	var a correlator.Allocation
	must(t, json.Unmarshal(body, &a))
	ref, of := "", map[string]correlator.Entry{}
	for _, e := range a.Timeline {
		if strings.Contains(e.Summary, "client certificate of CN=n-7") {
			ref = e.Ref
		}
		of[e.Ref] = e
	}
	if ref == "" {
		t.Fatalf("no record of the ingress: %s", body)
	}
	ask := func(as, id, question string, want int) (out query.LinesAround) {
		t.Helper()
		path := "/api/v1/allocations/" + id + "/lines/" + ref
		answer, body := p.do(t, as, http.MethodGet, path+question, "")
		c.check(t, http.MethodGet, path, answer, body)
		if answer.StatusCode != want {
			t.Errorf("%s asks %s%s: %d %s", as, path, question, answer.StatusCode, body)
		}
		if want == http.StatusBadGateway && (answer.Header.Get("Retry-After") == "" || !strings.Contains(string(body), "loki:3100")) {
			t.Errorf("what is away, and until when, is not said: %v %s", answer.Header, body)
		}
		_ = json.Unmarshal(body, &out)
		return out
	}
	at := int64(of[ref].Time)
	line := func(after int64, text string) query.Line {
		return query.Line{Time: correlator.Time(at - 30e9 + after), Line: text, Labels: map[string]string{"service_name": "ingress-proxy"}}
	}
	want := query.LinesAround{
		Ref: ref, Service: "ingress-proxy", From: correlator.Time(at - 30e9), To: correlator.Time(at + 30e9 + 1), Bounded: true,
		Lines: []query.Line{line(0, "ingress-proxy allocation_id=a-blue"), line(1, "ingress-proxy allocation_id=a-blue")},
	}
	if d := cmp.Diff(want, ask("all", "a-blue", "?limit=2", http.StatusOK)); d != "" {
		t.Error(d)
	}
	if got := ask("all", "a-blue", "?of=source&within=5", http.StatusOK); len(got.Lines) != 3 || got.Lines[0].Line != "ingress-proxy =" || got.Bounded || int64(got.To-got.From) != 10e9+1 {
		t.Errorf("%+v", got)
	}
	ask("red", "a-blue", "", http.StatusNotFound)
	ask("red", "a-blue", "?of=source", http.StatusNotFound)
	ask("blue", "a-blue", "?of=source", http.StatusForbidden)
	ask("blue", "a-blue", "?of=node", http.StatusForbidden)
	p.lines.away = errors.New("connection refused")
	ask("all", "a-blue", "", http.StatusBadGateway)
}

// The lines of an allocation are asked for where our index has its records: by page, and of nobody else's.
func TestLinesOfAnAllocation(t *testing.T) {
	c, p := newContract(t), newPlatform(t, twoTenants)
	p.settled(t, `"layer":"cert"`)
	const path = "/api/v1/allocations/a-blue/lines"
	ask := func(as, question string, want int) (out query.LinePage) {
		t.Helper()
		answer, body := p.do(t, as, http.MethodGet, path+question, "")
		c.check(t, http.MethodGet, path, answer, body)
		if answer.StatusCode != want {
			t.Errorf("%s asks %s: %d %s", as, question, answer.StatusCode, body)
		}
		_ = json.Unmarshal(body, &out)
		return out
	}
	whole := ask("all", "", http.StatusOK)
	if whole.Records == 0 || len(whole.Stretches) == 0 || len(whole.Lines) != 3*len(whole.Stretches) || whole.Next != nil || whole.Bounded {
		t.Fatalf("%+v", whole)
	}
	for i, one := range whole.Stretches {
		want := strings.Join(one.Sources, ",") + " allocation_id=a-blue"
		if l := whole.Lines[3*i]; l.Line != want || l.Time != one.From || one.To <= one.From || i > 0 && one.From <= whole.Stretches[i-1].To {
			t.Errorf("%+v: %+v, want %s", one, l, want)
		}
	}
	records, question := 0, "?limit=1"
	for pages := 0; ; pages++ {
		page := ask("blue", question, http.StatusOK)
		records += page.Records
		if page.Next == nil || pages > 1000 {
			break
		}
		question = "?limit=1&cursor=" + *page.Next
	}
	if records != whole.Records {
		t.Errorf("%d records by pages of one, %d in one page", records, whole.Records)
	}
	if got := ask("all", "?to=2020-01-01T00:00:00Z", http.StatusOK); got.Records != 0 || len(got.Lines) != 0 {
		t.Errorf("%+v", got)
	}
	ask("red", "", http.StatusNotFound)
	ask("all", "?limit=1001", http.StatusBadRequest)
	ask("all", "?cursor=x", http.StatusBadRequest)
	p.lines.away = errors.New("connection refused")
	ask("all", "", http.StatusBadGateway)
}
