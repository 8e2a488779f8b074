package lokiexporter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
)

func attributeKey(s string) attribute.Key { return attribute.Key(s) }

func TestExplain(t *testing.T) {
	const labels = `{service_name="a; has timestamp too old: x", severity="info"}`
	p := push{{&stream{labels: labels}, make([]entry, 9)}}
	cases := []struct {
		text string
		want map[string]int // nil: not explained
	}{
		{"entry for stream '" + labels + "' has timestamp too old: 2026-01-01T00:00:00Z, oldest acceptable timestamp is: 2026-02-01T00:00:00Z", map[string]int{refusedTooOld: 1}},
		{"entry for stream '" + labels + "' has timestamp too new: 2027-01-01T00:00:00+01:00\n", map[string]int{refusedTooNew: 1}},
		{"3 errors like: Max entry size '10' bytes exceeded for stream '" + labels + "' while adding an entry with length '11' bytes", map[string]int{refusedLine: 3}},
		{"stream '" + labels + "' has structured metadata too large: '70000' bytes, limit: '65536' bytes. Please see `limits_config.max_structured_metadata_size` or contact your Loki administrator to increase it", map[string]int{refusedMetadata: 1}},
		{"2 errors like: stream '" + labels + "' has too many structured metadata labels: '200', limit: '128'. Please see `limits_config.max_structured_metadata_entries_count` or contact your Loki administrator to increase it; " +
			"1 errors like: entry for stream '" + labels + "' has timestamp too new: 2027-01-01T00:00:00Z", map[string]int{refusedMetadata: 2, refusedTooNew: 1}},
		{"entry for stream '" + labels + "' has 18 label names; limit 15", map[string]int{refusedLabels: wholeStream}},
		{"stream '" + labels + "' has label value too long: 'it's; long'", map[string]int{refusedLabels: wholeStream}},
		{"missing required labels 'team' for user 'fake' for stream '" + labels + "' (policy: '')", map[string]int{refusedLabels: wholeStream}},
		{"entry with timestamp 2026-03-02 09:00:00 +0000 UTC ignored, reason: 'entry too far behind, entry timestamp is: 2026-03-02T09:00:00Z, oldest acceptable timestamp is: 2026-03-02T10:00:00Z',\n" +
			"entry with timestamp 2026-03-02 09:00:01 +0000 UTC ignored, reason: 'entry too far behind, entry timestamp is: 2026-03-02T09:00:01Z, oldest acceptable timestamp is: 2026-03-02T10:00:00Z',\n" +
			"user 'fake', total ignored: 2 out of 9 for stream: " + labels, map[string]int{refusedBehind: 2}},
		{"", nil},
		{"bad request", nil},
		{"couldn't parse labels: 1:2: parse error", nil},
		{"entry for stream '{other=\"x\"}' has timestamp too new: 2027-01-01T00:00:00Z", nil},
		{"entry for stream '" + labels + "' has timestamp too new: 2027-01-01T00:00:00Z; and something else", nil},
		{"stream '" + labels + "' includes structured metadata, but this feature is disallowed. Please see `limits_config.allow_structured_metadata` or contact your Loki administrator to enable it", nil},
	}
	for _, c := range cases {
		refusals, ok := explain(c.text, p)
		if ok != (c.want != nil) {
			t.Errorf("%q: explained %v", c.text, ok)
		}
		if !ok {
			continue
		}
		got := map[string]int{}
		for _, r := range refusals {
			got[r.reason] += r.count
			if remedies[r.reason] == "" {
				t.Errorf("%s: what to do?", r.reason)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: -want +got:\n%s", c.text, diff)
		}
	}
}

// Whatever an answer says, reading it ends, and no more is refused than was sent.
func FuzzExplain(f *testing.F) {
	f.Add("entry for stream '{}' has timestamp too new: x; 99999999999999999999 errors like: ")
	f.Add("5 errors like: max entry size '1' bytes exceeded for stream '{}' while adding an entry with length '2' bytes")
	f.Fuzz(func(t *testing.T, text string) {
		refusals, ok := explain(text, push{{&stream{labels: `{a="b"}`}, make([]entry, 3)}})
		if ok && len(refusals) == 0 || strings.TrimSpace(text) == "" && ok {
			t.Errorf("%q: %v", text, refusals)
		}
	})
}

func TestBefore(t *testing.T) {
	p := push{{&stream{}, []entry{{time: noon.UnixNano()}, {time: noon.UnixNano() + 1}, {time: noon.UnixNano() + 1}, {time: noon.UnixNano() + 2}}}}
	for text, want := range map[string]int{
		"entry with timestamp 2026-03-02 12:00:00.000000001 +0000 UTC ignored, reason: 'Per stream rate limit exceeded (limit: …": 1,
		"entry with timestamp 2026-03-02 12:00:00 +0000 UTC ignored, reason: 'Per stream rate limit exceeded (limit: …":           0,
		"entry with timestamp never +0000 UTC ignored, reason: 'Per stream rate limit exceeded":                                   0,
		"ingestion rate limit exceeded for user fake":                                                                             0,
	} {
		if got := before(p, text).entries(); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
