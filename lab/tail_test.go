package lab_test

import (
	"bytes"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
)

// tail reads a file of telemetry while it grows.
type tail struct {
	file string
	at   int64
	all  []*record.Record
}

// since gives the records that were stamped after a time, of all that has been written until now.
func (f *tail) since(t *testing.T, from time.Time) []*record.Record {
	t.Helper()
	in, err := os.Open(f.file)
	if err != nil {
		return nil // nobody has said anything yet
	}
	defer func() { _ = in.Close() }()
	if _, err := in.Seek(f.at, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1] // the last line may be half written
	f.at += int64(len(text))
	r := &otlpfile.Reader{
		Stdin:  bytes.NewReader(text),
		Record: func(r *record.Record) { f.all = append(f.all, r) },
		Reject: func(r otlpfile.Rejection) { t.Error("export:", r) },
	}
	if err := r.ReadFile(otlpfile.Stdin); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(func(yield func(*record.Record) bool) {
		for _, r := range f.all {
			if r.Time > from.UnixNano() && !yield(r) {
				return
			}
		}
	})
}
