package otlpfile_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
)

const (
	logLine  = `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"api"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":{"stringValue":"one"}},{"timeUnixNano":"2","body":{"stringValue":"two"}}]}]}]}`
	spanLine = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"api"}}]},"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","name":"GET /","startTimeUnixNano":"3","endTimeUnixNano":"4"}]}]}]}`
	noise    = `{"resourceMetrics":[]}`
)

func read(t testing.TB, files map[string][]byte, names ...string) (bodies []string, rejected []string, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if e := os.WriteFile(filepath.Join(dir, name), text, 0o600); e != nil {
			t.Fatal(e)
		}
	}
	d := &otlpfile.Reader{
		Stdin:  strings.NewReader(logLine),
		Record: func(r *record.Record) { bodies = append(bodies, r.Body+r.Name) },
		Reject: func(r otlpfile.Rejection) {
			rejected = append(rejected, strings.TrimPrefix(r.String(), dir+string(filepath.Separator)))
		},
	}
	for _, n := range names {
		if n != otlpfile.Stdin {
			n = filepath.Join(dir, n)
		}
		if e := d.ReadFile(n); e != nil {
			err = e
		}
	}
	return bodies, rejected, err
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRead(t *testing.T) {
	whole := logLine + "\n\n{}\n" + noise + "\n" + spanLine + "\r\n"
	want := []string{"one", "two", "GET /"}
	for name, text := range map[string][]byte{"plain": []byte(whole), "gzip": zipped(t, whole), "no newline at the end": []byte(strings.TrimSpace(whole)), "two gzip members": append(zipped(t, logLine+"\n"), zipped(t, spanLine)...)} {
		t.Run(name, func(t *testing.T) {
			got, rejected, err := read(t, map[string][]byte{"f": text}, "f")
			if d := cmp.Diff(want, got); d != "" || rejected != nil || err != nil {
				t.Error(d, rejected, err)
			}
		})
	}
	if got, _, _ := read(t, nil, otlpfile.Stdin); len(got) != 2 {
		t.Errorf("standard input: %v", got)
	}
}

func TestBadInputIsReportedAndTheRestRead(t *testing.T) {
	bad := []string{
		`{"resourceLogs":[{"scopeLogs":`, `[]`, `"text"`, `null`, `7`, `{"msg":"a plain JSON log line"}`, `not json`,
		`{"resourceLogs":"none"}`, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"soon"}]}]}]}`,
		`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"xyz"}]}]}]}`, "\x00\xff",
	}
	got, rejected, err := read(t, map[string][]byte{"f": []byte(logLine + "\n" + strings.Join(bad, "\n") + "\n" + spanLine + "\n")}, "f")
	if err != nil || len(got) != 3 {
		t.Errorf("neighbours lost: %v %v", got, err)
	}
	if len(rejected) != len(bad) {
		t.Errorf("%d rejected, want %d:\n%s", len(rejected), len(bad), strings.Join(rejected, "\n"))
	}
	for i, r := range rejected {
		if !strings.HasPrefix(r, "f:"+string("23456789"[min(i, 7)])) && i < 8 {
			t.Errorf("rejection does not say where: %s", r)
		}
	}
}

func TestTruncatedGzipKeepsWhatPrecedes(t *testing.T) {
	text := zipped(t, strings.Repeat(logLine+"\n", 5000))
	got, rejected, err := read(t, map[string][]byte{"f": text[:len(text)-20]}, "f")
	if err != nil || len(rejected) != 1 || len(got) == 0 {
		t.Errorf("%d records, rejected %v, error %v", len(got), rejected, err)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	if _, _, err := read(t, nil, "absent"); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Error(err)
	}
	if _, _, err := read(t, nil, "."); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(logLine))
	f.Add([]byte(spanLine))
	f.Add([]byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"kvlistValue":{"values":[{"key":"a","value":{"arrayValue":{}}}]}}}]}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, _, err := read(t, map[string][]byte{"f": text}, "f"); err != nil {
			t.Error(err)
		}
	})
}
