package loki

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// Reader asks a Loki. Safe for use by several goroutines.
type Reader struct {
	cfg    Config
	base   *url.URL
	client *http.Client
}

var _ query.Lines = (*Reader)(nil)

// New gives a reader of a valid configuration.
func New(cfg Config) (*Reader, error) {
	base, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, errors.New("loki.url: not an address")
	}
	return &Reader{cfg, base, &http.Client{Timeout: cfg.Timeout}}, nil
}

// mostBytes bounds an answer; Loki's own limit for a line is 256 kB.
const mostBytes = 64 << 20

// Lines implements query.Lines.
func (r *Reader) Lines(ctx context.Context, q query.LineQuestion) ([]query.Line, error) {
	found, err := r.ask(ctx, q)
	if err != nil && ctx.Err() == nil {
		err = &query.LinesUnavailable{Where: r.base.Host, Err: err}
	}
	return found, err
}

func (r *Reader) ask(ctx context.Context, q query.LineQuestion) ([]query.Line, error) {
	u := *r.base
	u.User = nil
	u.Path = strings.TrimSuffix(u.Path, "/") + "/loki/api/v1/query_range"
	u.RawQuery = url.Values{
		"query": {expression(q)}, "start": {strconv.FormatInt(q.From, 10)}, "end": {strconv.FormatInt(q.To, 10)}, "limit": {strconv.Itoa(q.Most)}, "direction": {"forward"},
	}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if err := r.authorize(request); err != nil {
		return nil, err
	}
	answer, err := r.client.Do(request)
	if err != nil {
		var where *url.Error
		if errors.As(err, &where) {
			err = where.Err // the address holds the whole question
		}
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body := io.LimitReader(answer.Body, mostBytes)
	if answer.StatusCode != http.StatusOK {
		words, _ := io.ReadAll(io.LimitReader(body, 300))
		return nil, fmt.Errorf("%s: %s", answer.Status, strings.TrimSpace(string(words)))
	}
	return parse(body)
}

func (r *Reader) authorize(request *http.Request) error {
	if r.cfg.Tenant != "" {
		request.Header.Set("X-Scope-OrgID", r.cfg.Tenant)
	}
	if u := r.base.User; u != nil {
		secret, _ := u.Password()
		request.SetBasicAuth(u.Username(), secret)
	}
	if r.cfg.TokenFile != "" {
		token, err := os.ReadFile(r.cfg.TokenFile)
		if err != nil {
			return fmt.Errorf("loki.token_file: %w", err)
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	return nil
}

// unknownService is the label of what names no service, as collector/lokiexporter writes it.
const unknownService = "unknown_service"

// expression is the question in LogQL: one stream label, then structured metadata. Go's quotes are LogQL's.
func expression(q query.LineQuestion) string {
	services := make([]string, len(q.Sources))
	for i, s := range q.Sources {
		services[i] = cmp.Or(s, unknownService)
	}
	text := "{service_name=" + strconv.Quote(services[0]) + "}"
	if len(services) > 1 {
		for i, s := range services {
			services[i] = regexp.QuoteMeta(s)
		}
		text = "{service_name=~" + strconv.Quote(strings.Join(services, "|")) + "}"
	}
	if q.Key != "" {
		text += " | " + q.Key + "=" + strconv.Quote(q.ID)
	}
	return text
}

// parse reads an answer: streams, each with its lines.
func parse(body io.Reader) ([]query.Line, error) {
	var answer struct {
		Data struct {
			Type   string `json:"resultType"`
			Result []struct {
				Stream map[string]string `json:"stream"`
				Values [][]json.RawMessage
			} `json:"result"`
		} `json:"data"`
	}
	if err := json.NewDecoder(body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("no answer of Loki's: %w", err)
	}
	if answer.Data.Type != "streams" {
		return nil, fmt.Errorf("no answer of Loki's: its type is %q", answer.Data.Type)
	}
	var out []query.Line
	for _, s := range answer.Data.Result {
		for _, v := range s.Values {
			var at, line string
			if len(v) < 2 || json.Unmarshal(v[0], &at) != nil || json.Unmarshal(v[1], &line) != nil {
				return nil, errors.New("no answer of Loki's: a value is no time and line")
			}
			ns, err := strconv.ParseInt(at, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("no answer of Loki's: %w", err)
			}
			out = append(out, query.Line{Time: correlator.Time(ns), Line: line, Labels: s.Stream})
		}
	}
	slices.SortStableFunc(out, func(a, b query.Line) int { return cmp.Compare(a.Time, b.Time) })
	return once(out), nil
}
