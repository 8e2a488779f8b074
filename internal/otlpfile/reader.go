package otlpfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
)

// Stdin is the file name that means standard input.
const Stdin = "-"

// maxLineBytes bounds one request object; a longer line is rejected, not read into memory.
const maxLineBytes = 256 << 20

// Rejection is one piece of input that could not be read.
type Rejection struct {
	File   string
	Line   int // from 1; the line in the decompressed text
	Reason string
}

// String is `file:line: reason`.
func (r Rejection) String() string { return fmt.Sprintf("%s:%d: %s", r.File, r.Line, r.Reason) }

// Reader reads files one after the other.
type Reader struct {
	Stdin io.Reader
	// Record takes every log record and span in document order.
	Record func(*record.Record)
	// Reject takes what could not be read.
	Reject func(Rejection)
	// Read, where it is set, takes how many bytes were read, each time that some were: of compressed files as they are stored.
	Read func(n int)
}

// counted tells how much is read.
type counted struct {
	io.Reader
	read func(n int)
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read(n)
	return n, err
}

// ReadFile reads one file, or standard input for "-". The error is one of opening or reading (a usage
// or I/O error); content that is wrong goes to Reject.
func (d *Reader) ReadFile(name string) error {
	if name == Stdin {
		return d.read("standard input", d.Stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return fmt.Errorf("read %s: is a directory; name the files in it", name)
	}
	return d.read(name, f)
}

func (d *Reader) read(name string, r io.Reader) error {
	if d.Read != nil {
		r = counted{r, d.Read}
	}
	buffered := bufio.NewReaderSize(r, 1<<20)
	magic, _ := buffered.Peek(2)
	compressed := bytes.Equal(magic, []byte{0x1f, 0x8b})
	if compressed {
		z, err := gzip.NewReader(buffered)
		if err != nil {
			d.Reject(Rejection{name, 1, "gzip: " + err.Error()})
			return nil //nolint:nilerr // what cannot be read is reported, and no error of ours
		}
		buffered = bufio.NewReaderSize(z, 1<<20)
	}
	for n := 1; ; n++ {
		line, tooLong, err := readLine(buffered)
		cut := err != nil && !errors.Is(err, io.EOF)
		switch {
		case cut && !compressed:
			return fmt.Errorf("read %s: %w", name, err)
		case cut:
			// What precedes was read; the line in which the stream breaks off cannot be whole.
			d.Reject(Rejection{name, n, "gzip: " + err.Error() + "; what precedes was read"})
			return nil
		case tooLong:
			d.Reject(Rejection{name, n, fmt.Sprintf("line is longer than %d MiB", maxLineBytes>>20)})
		case len(line) > 0:
			if reason := d.line(line); reason != "" {
				d.Reject(Rejection{name, n, reason})
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the end of the file, or of what can be read of it
		}
	}
}

// readLine returns the next line without surrounding white space. A line over the bound is skipped.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLineBytes {
			tooLong, line = true, line[:0]
		}
		if !tooLong {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), tooLong, err
		}
	}
}

// signals are the members that an OTLP request object may have.
var signals = []string{"resourceLogs", "resourceSpans", "resourceMetrics", "resourceProfiles"}

// line reads one request object; the reason says why it is none.
func (d *Reader) line(text []byte) (reason string) {
	defer func() {
		// pdata's decoder is not ours; input must never end the program.
		if p := recover(); p != nil {
			reason = fmt.Sprintf("not OTLP/JSON: %v", p)
		}
	}()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return "not a JSON object: " + err.Error()
	}
	if members == nil {
		return "not a JSON object: null"
	}
	known := len(members) == 0
	for _, s := range signals {
		if _, ok := members[s]; ok {
			known = true
		}
	}
	if !known {
		return "not OTLP/JSON: has neither resourceLogs nor resourceSpans"
	}
	// Decode both before yielding anything, so that a line counts whole or not at all.
	var (
		logs  plog.Logs
		spans ptrace.Traces
		err   error
	)
	_, hasLogs := members["resourceLogs"]
	_, hasSpans := members["resourceSpans"]
	if hasLogs {
		if logs, err = new(plog.JSONUnmarshaler).UnmarshalLogs(text); err != nil {
			return "not OTLP/JSON logs: " + err.Error()
		}
	}
	if hasSpans {
		if spans, err = new(ptrace.JSONUnmarshaler).UnmarshalTraces(text); err != nil {
			return "not OTLP/JSON spans: " + err.Error()
		}
	}
	yield := func(r *record.Record) bool { d.Record(r); return true }
	if hasLogs {
		otlp.Logs(logs, yield)
	}
	if hasSpans {
		otlp.Spans(spans, yield)
	}
	return ""
}
