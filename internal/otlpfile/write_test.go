package otlpfile_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	want, err := story.Parse(`
10:00:00 cli span 40ms error name="POST /x" kind=client trace_id=t1 span_id=s1 parent_span_id=s0 http.response.status_code=503 status_message="no answer"
10:00:01 provisioner allocation.state allocation_id=a-1 to=requested resource.host.name=h
10:00:02 node-agent error trace_id=t1 span_id=s1 observed=10:00:09 | x509: certificate has expired
10:00:03 kernel log | plain
`)
	if err != nil {
		t.Fatal(err)
	}
	text, err := otlpfile.Write(want)
	if err != nil {
		t.Fatal(err)
	}
	var got []*record.Record
	d := otlpfile.Reader{
		Stdin: bytes.NewReader(text), Record: func(r *record.Record) { got = append(got, r) },
		Reject: func(r otlpfile.Rejection) { t.Error(r) },
	}
	if err := d.ReadFile(otlpfile.Stdin); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestWriteNamesAnIDThatIsNone(t *testing.T) {
	if _, err := otlpfile.Write([]*record.Record{{Signal: record.Span, TraceID: "xyz"}}); err == nil {
		t.Error("written")
	}
}
