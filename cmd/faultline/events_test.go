package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/story"
)

// talking serves a story of more records than one page takes.
func talking(t *testing.T, lines int) string {
	t.Helper()
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	var tale strings.Builder
	for i := range lines {
		fmt.Fprintf(&tale, "10:%02d:%02d api info allocation_id=a-1 node_id=n-1 | line %d of a long story\n", i/60%60, i%60, i)
	}
	records, err := story.Parse(tale.String())
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(api.New(&query.Service{Store: memory.New(p, records), Profile: p, Rules: rules.All()}, p, rules.All(), slog.New(slog.DiscardHandler), prometheus.NewRegistry()).Handler(nil))
	t.Cleanup(s.Close)
	return s.URL
}

func ask(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestEventsAreStreamedPageByPage(t *testing.T) {
	server := talking(t, 2500)
	out, err := ask(t, "events", "a-1", "--json", "--server", server)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var last query.FullEvent
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(lines) != 2500 || last.Body == "" || last.IDs["allocation_id"] != "a-1" {
		t.Errorf("%d lines, the last %+v, %v", len(lines), last, err)
	}
	if out, err = ask(t, "events", "--node", "n-1", "--limit", "3", "--server", server); err != nil || strings.Count(out, "long story") != 3 {
		t.Errorf("%s %v", out, err)
	}
	if out, err = ask(t, "search", "STORY", "7", "--from", "2026-03-01T00:00:00Z", "--server", server); err != nil || strings.Count(out, "line 7 of") != 1 {
		t.Errorf("%s %v", out, err)
	}
}

func TestEventsSayWhatIsMissing(t *testing.T) {
	server := talking(t, 1)
	for want, args := range map[string][]string{
		"needs one identifier":     {"events"},
		"one of --node":            {"events", "a-1", "--node", "n-1"},
		"neither an RFC 3339 time": {"events", "a-1", "--from", "yesterday"},
		"is no layer of":           {"search", "--layer", "attic"},
		"is not name=value":        {"search", "--attr", "x"},
	} {
		if _, err := ask(t, append(args, "--server", server)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
