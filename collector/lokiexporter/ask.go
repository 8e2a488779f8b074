package lokiexporter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	logproto "github.com/grafana/loki/pkg/push"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// askedAtOnce is how many lines one query gives; Loki's max_entries_limit_per_query is 5,000.
	askedAtOnce = 1000
	// askedAtMost is how many queries are made for one push; what they do not show is sent.
	askedAtMost = 100
	// askedFor is for how long a Loki that answers, but not to queries, keeps a push in doubt from being sent.
	askedFor = time.Minute
)

// errUnasked says that Loki will not tell what it has: nobody may read there, or the question is beyond its limits.
var errUnasked = errors.New("loki does not say what it has")

// queryURL is where to ask the Loki that takes pushes at an address.
func queryURL(push string) string {
	u, err := url.Parse(push)
	if err != nil {
		return ""
	}
	base, ok := strings.CutSuffix(u.Path, "/push")
	if !ok {
		return ""
	}
	u.Path = base + "/query_range"
	return u.String()
}

// found are the lines of a stream in a time, with the metadata of each that has this time and text.
type found map[string][]map[string]string

func foundKey(nanos, line string) string { return nanos + " " + line }

// has says whether an entry is among them. Loki adds metadata of its own (detected_level), and the stream's labels.
func (f found) has(e *logproto.EntryAdapter) bool {
	for _, there := range f[foundKey(strconv.FormatInt(e.Timestamp.UnixNano(), 10), e.Line)] {
		equal := true
		for _, own := range e.StructuredMetadata {
			equal = equal && there[own.Name] == own.Value
		}
		if equal {
			return true
		}
	}
	return false
}

// stream asks for the lines of a stream.
func (c *client) stream(ctx context.Context, query, labels string, of span) (found, error) {
	out := found{}
	from, to := of.From, of.To+1
	for range askedAtMost {
		text, err := c.get(ctx, query+"?"+url.Values{"query": {labels}, "start": {strconv.FormatInt(from, 10)}, "end": {strconv.FormatInt(to, 10)},
			"limit": {strconv.Itoa(askedAtOnce)}, "direction": {"forward"}}.Encode())
		if err != nil {
			return nil, err
		}
		n, last, err := out.read(text)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errUnasked, err)
		}
		if n < askedAtOnce {
			break
		}
		from = max(last, from+1) // of the last moment there may be more
	}
	return out, nil
}

// read takes in an answer: how many lines it has, and the time of the last.
func (f found) read(text []byte) (lines int, last int64, err error) {
	var answer struct {
		Data struct {
			Result []struct {
				Stream map[string]string
				Values [][2]string
			}
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, 0, fmt.Errorf("read an answer to query_range: %w", err)
	}
	for _, r := range answer.Data.Result {
		for _, v := range r.Values {
			at, err := strconv.ParseInt(v[0], 10, 64)
			if err != nil {
				return 0, 0, fmt.Errorf("read an answer to query_range: %w", err)
			}
			key := foundKey(v[0], v[1])
			f[key] = append(f[key], r.Stream)
			last = max(last, at)
		}
		lines += len(r.Values)
	}
	return lines, last, nil
}

// maxFound bounds an answer to a query.
const maxFound = 64 << 20

// get asks. errUnasked is in the error where asking again will not help.
func (c *client) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("make a query: %w", err)
	}
	for _, name := range []string{"User-Agent", tenantHeader} {
		if v := c.header.Get(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	req.Header.Set("Cache-Control", "no-cache") // an empty answer may have been kept since before the push
	r, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(r.Body, maxFound))
	if err != nil {
		return nil, fmt.Errorf("read the answer to a query: %w", err)
	}
	if r.StatusCode == http.StatusOK {
		return text, nil
	}
	err = &statusError{r.StatusCode, strings.TrimSpace(string(text))}
	if r.StatusCode < 500 && r.StatusCode != http.StatusTooManyRequests {
		err = fmt.Errorf("%w: %w", errUnasked, err)
	}
	return nil, err
}

// decode reads the entry back from the push that it is part of.
func (s *stream) decode(e entry) (*logproto.EntryAdapter, error) {
	text := s.data[e.from:e.to]
	_, _, n := protowire.ConsumeTag(text)
	if n < 0 {
		return nil, protowire.ParseError(n)
	}
	text, n = protowire.ConsumeBytes(text[n:])
	if n < 0 {
		return nil, protowire.ParseError(n)
	}
	var out logproto.EntryAdapter
	if err := out.Unmarshal(text); err != nil {
		return nil, fmt.Errorf("read an entry back: %w", err)
	}
	return &out, nil
}
