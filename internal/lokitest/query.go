package lokitest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Line is one line of an answer. Labels are those of its stream with its structured metadata.
type Line struct {
	Time   time.Time
	Text   string
	Labels map[string]string
}

// Stats is what a query read.
type Stats struct {
	Bytes int `json:"totalBytesProcessed"`
	Lines int `json:"totalLinesProcessed"`
}

// Query gives at most limit lines of [from, to), oldest first.
func (s *Server) Query(ctx context.Context, query string, from, to time.Time, limit int) ([]Line, Stats, error) {
	var answer struct {
		Data struct {
			Result []struct {
				Stream map[string]string
				Values [][2]string
			}
			Stats struct{ Summary Stats }
		}
	}
	path := "/loki/api/v1/query_range?" + url.Values{"query": {query}, "start": {nanos(from)}, "end": {nanos(to)}, "limit": {strconv.Itoa(limit)}, "direction": {"forward"}}.Encode()
	if err := s.read(ctx, path, &answer); err != nil {
		return nil, Stats{}, fmt.Errorf("query %s: %w", query, err)
	}
	var out []Line
	for _, r := range answer.Data.Result {
		for _, v := range r.Values {
			at, err := strconv.ParseInt(v[0], 10, 64)
			if err != nil {
				return nil, Stats{}, fmt.Errorf("query %s: %w", query, err)
			}
			out = append(out, Line{time.Unix(0, at), v[1], r.Stream})
		}
	}
	return out, answer.Data.Stats.Summary, nil
}

// Count is how many lines a selector with filters has in the time before an instant.
func (s *Server) Count(ctx context.Context, query string, before time.Time, over time.Duration) (int, error) {
	var answer struct {
		Data struct{ Result []struct{ Value [2]any } }
	}
	path := "/loki/api/v1/query?" + url.Values{"query": {fmt.Sprintf("sum(count_over_time(%s [%ds]))", query, int(over.Seconds()))}, "time": {nanos(before)}}.Encode()
	if err := s.read(ctx, path, &answer); err != nil {
		return 0, fmt.Errorf("count %s: %w", query, err)
	}
	if len(answer.Data.Result) == 0 {
		return 0, nil
	}
	text, _ := answer.Data.Result[0].Value[1].(string)
	return strconv.Atoi(text)
}

// Streams are the labels of all streams of that time.
func (s *Server) Streams(ctx context.Context, from, to time.Time) ([]map[string]string, error) {
	var answer struct{ Data []map[string]string }
	path := "/loki/api/v1/series?" + url.Values{"match[]": {`{service_name=~".+"}`}, "start": {nanos(from)}, "end": {nanos(to)}}.Encode()
	if err := s.read(ctx, path, &answer); err != nil {
		return nil, fmt.Errorf("read streams: %w", err)
	}
	return answer.Data, nil
}

// For is the same server as a tenant sees it.
func (s *Server) For(tenant string) *Server { return &Server{URL: s.URL, tenant: tenant} }

// CPU is what the server has used of processors.
func (s *Server) CPU(ctx context.Context) (time.Duration, error) {
	seconds, err := s.metric(ctx, "process_cpu_seconds_total")
	return time.Duration(seconds * float64(time.Second)), err
}

// metric is the value of a metric of the server without labels.
func (s *Server) metric(ctx context.Context, name string) (float64, error) {
	text, err := s.get(ctx, "/metrics")
	if err != nil {
		return 0, fmt.Errorf("read Loki's metrics: %w", err)
	}
	for l := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(l, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(v), 64)
		}
	}
	return 0, fmt.Errorf("read Loki's metrics: no %s", name)
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func (s *Server) read(ctx context.Context, path string, to any) error {
	text, err := s.get(ctx, path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

func (s *Server) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return nil, err
	}
	if s.tenant != "" {
		req.Header.Set("X-Scope-OrgID", s.tenant)
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", r.Status, text)
	}
	return text, nil
}
