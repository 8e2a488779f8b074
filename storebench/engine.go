package storebench

import (
	"bytes"
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

// Engine is a store that is asked over HTTP, without a driver: what is measured is the engine's work, and
// its own counters say how much that was.
type Engine struct {
	base     url.URL
	database string
	client   *http.Client
}

// NewEngine takes a DSN with http or https.
func NewEngine(dsn string) (*Engine, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, fmt.Errorf("dsn: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("dsn: want http:// or https://, not %s://", u.Scheme)
	}
	e := &Engine{base: *u, database: strings.Trim(u.Path, "/"), client: &http.Client{Transport: &http.Transport{MaxIdleConns: 4}}}
	e.base.Path, e.base.RawQuery = "/", ""
	return e, nil
}

// DSN of a database of the engine.
func (e *Engine) DSN(database string) string {
	u := e.base
	u.Path = "/" + database
	return u.String()
}

// Close lets the connections go.
func (e *Engine) Close() { e.client.CloseIdleConnections() }

// Cost is what a statement took, by the engine's counters and our clock.
type Cost struct {
	Returned, Rows, Bytes uint64 // rows given back; rows and bytes read for them
	Took                  time.Duration
}

func (c Cost) plus(d Cost) Cost {
	return Cost{c.Returned + d.Returned, c.Rows + d.Rows, c.Bytes + d.Bytes, c.Took + d.Took}
}

// Ask runs one statement in a database and reads its whole answer.
func (e *Engine) Ask(ctx context.Context, database, statement string, settings map[string]string) ([]byte, Cost, error) {
	q := url.Values{"wait_end_of_query": {"1"}, "default_format": {"TabSeparated"}}
	if database != "" {
		q.Set("database", database)
	}
	for k, v := range settings {
		q.Set(k, v)
	}
	u := e.base
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(statement))
	if err != nil {
		return nil, Cost{}, err
	}
	begun := time.Now()
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, Cost{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	c := Cost{Took: time.Since(begun)}
	if err != nil {
		return nil, c, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, c, fmt.Errorf("%.200s: %.600s", statement, bytes.TrimSpace(body))
	}
	var s struct {
		ReadRows   string `json:"read_rows"`
		ReadBytes  string `json:"read_bytes"`
		ResultRows string `json:"result_rows"`
	}
	if err := json.Unmarshal([]byte(resp.Header.Get("X-ClickHouse-Summary")), &s); err != nil {
		return nil, c, fmt.Errorf("X-ClickHouse-Summary: %w", err)
	}
	for _, n := range []struct {
		to   *uint64
		text string
	}{{&c.Rows, s.ReadRows}, {&c.Bytes, s.ReadBytes}, {&c.Returned, s.ResultRows}} {
		if *n.to, err = strconv.ParseUint(n.text, 10, 64); err != nil {
			return nil, c, fmt.Errorf("X-ClickHouse-Summary: %w", err)
		}
	}
	return body, c, nil
}

// Exec runs a statement whose answer is of no interest.
func (e *Engine) Exec(ctx context.Context, database, statement string) error {
	_, _, err := e.Ask(ctx, database, statement, nil)
	return err
}

// lines gives the fields of every row of an answer.
func lines(answer []byte) (out [][]string) {
	for line := range strings.Lines(string(answer)) {
		out = append(out, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return out
}
