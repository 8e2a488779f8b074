package lokireceiver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	logproto "github.com/grafana/loki/pkg/push"
	"github.com/klauspost/compress/s2"
)

// errTooLarge says that a body unpacks to more than is taken.
var errTooLarge = errors.New("push is too large")

// stream is one stream of a push: its labels, and its entries as Loki's types have them.
type stream struct {
	labels  []logproto.LabelAdapter
	entries []logproto.Entry
	err     error // why its labels cannot be read
}

func isJSON(req *http.Request) bool {
	kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// read reads the body: JSON where it says so, else protobuf in a snappy block, which is what every sender means.
func read(req *http.Request, limit int64) ([]stream, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("read the push: %w", err)
	}
	if isJSON(req) {
		return readJSON(body)
	}
	return readProtobuf(body, limit)
}

func readProtobuf(body []byte, limit int64) ([]stream, error) {
	size, err := s2.DecodedLen(body)
	if err != nil {
		return nil, fmt.Errorf("read the push: no snappy block: %w", err)
	}
	if int64(size) > limit {
		return nil, fmt.Errorf("%w: it unpacks to %d bytes, %d are taken (max_request_body_size)", errTooLarge, size, limit)
	}
	plain, err := s2.Decode(nil, body)
	if err != nil {
		return nil, fmt.Errorf("read the push: no snappy block: %w", err)
	}
	var req logproto.PushRequest
	if err := req.Unmarshal(plain); err != nil {
		return nil, fmt.Errorf("read the push: no PushRequest: %w", err)
	}
	out := make([]stream, 0, len(req.Streams))
	for _, s := range req.Streams {
		one := stream{entries: s.Entries}
		one.labels, one.err = parseLabels(s.Labels)
		out = append(out, one)
	}
	return out, nil
}

// jsonPush is {"streams": [{"stream": {"label": "value"}, "values": [["nanoseconds", "line", {"name": "value"}]]}]}.
type jsonPush struct {
	Streams []struct {
		Stream map[string]string `json:"stream"`
		Values []jsonEntry       `json:"values"`
	} `json:"streams"`
}

type jsonEntry logproto.Entry

// UnmarshalJSON reads an array of two or three.
func (e *jsonEntry) UnmarshalJSON(text []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return fmt.Errorf("a value is an array of time, line and structured metadata: %w", err)
	}
	if len(parts) != 2 && len(parts) != 3 {
		return fmt.Errorf("a value is an array of time, line and structured metadata, not of %d", len(parts))
	}
	var at string
	if err := json.Unmarshal(parts[0], &at); err != nil {
		return fmt.Errorf("the time of a value is a text of nanoseconds: %w", err)
	}
	nanos, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of a value is a text of nanoseconds: %w", err)
	}
	e.Timestamp = time.Unix(0, nanos)
	if err := json.Unmarshal(parts[1], &e.Line); err != nil {
		return fmt.Errorf("the line of a value is a text: %w", err)
	}
	if len(parts) == 3 {
		if err := json.Unmarshal(parts[2], &e.StructuredMetadata); err != nil {
			return fmt.Errorf("structured metadata are texts by name: %w", err)
		}
	}
	return nil
}

func readJSON(body []byte) ([]stream, error) {
	var req jsonPush
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, fmt.Errorf("read the push: %w", err)
	}
	out := make([]stream, 0, len(req.Streams))
	for _, s := range req.Streams {
		one := stream{entries: make([]logproto.Entry, len(s.Values))}
		for i, v := range s.Values {
			one.entries[i] = logproto.Entry(v)
		}
		for name, value := range s.Stream {
			one.labels = append(one.labels, logproto.LabelAdapter{Name: name, Value: value})
		}
		slices.SortFunc(one.labels, func(a, b logproto.LabelAdapter) int { return strings.Compare(a.Name, b.Name) })
		if len(one.labels) == 0 {
			one.err = errNoLabels
		}
		out = append(out, one)
	}
	return out, nil
}
