package chhttp

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/compress"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

// Output is held back before the first byte goes out, so that a small result carries its summary and a failure its status.
const (
	heldBack       = 1 << 20
	blockSize      = 1 << 20
	gzipLevel      = gzip.BestSpeed
	exceptionBytes = 16 << 10 // what the protocol allows for an exception within a result
)

// reply writes one response: output, or an exception, or output that an exception cuts short.
type reply struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	q       *request
	version string
	tag     string

	held    bytes.Buffer
	limit   int
	started bool
	out     io.Writer
	raw     io.Writer // blocks without compression: the driver looks for an exception in the bytes as they come
	closers []io.Closer
}

func newReply(w http.ResponseWriter, q *request, version string, stall time.Duration) *reply {
	p := &reply{w: w, control: http.NewResponseController(w), stall: stall, q: q, version: version, limit: heldBack, tag: rand.Text()[:16]}
	if q.hold {
		p.limit = math.MaxInt // the result is in memory already
	}
	return p
}

// Write takes output of the engine.
func (p *reply) Write(b []byte) (int, error) {
	if !p.started {
		if p.held.Len()+len(b) <= p.limit {
			return p.held.Write(b)
		}
		if err := p.start(); err != nil {
			return 0, err
		}
	}
	return p.out.Write(b)
}

// start sends the headers and what was held back.
func (p *reply) start() error {
	p.started = true
	h := p.w.Header()
	h.Set("X-ClickHouse-Exception-Tag", p.tag)
	p.out = writerFunc(p.send)
	if p.q.gzip && p.held.Len() > 0 {
		h.Set("Content-Encoding", "gzip")
		z, err := gzip.NewWriterLevel(p.out, gzipLevel)
		if err != nil {
			return err
		}
		p.out, p.closers = z, append(p.closers, z)
	}
	if p.q.compress {
		method := compress.LZ4
		if p.q.zstd {
			method = compress.ZSTD
		}
		p.raw = &blockWriter{w: p.out, c: compress.NewWriter(compress.LevelZero, compress.None)}
		p.out = &blockWriter{w: p.out, c: compress.NewWriter(compress.LevelZero, method)}
	}
	held := p.held.Bytes()
	p.held = bytes.Buffer{}
	if len(held) == 0 {
		return nil
	}
	_, err := p.out.Write(held)
	return err
}

// send is where bytes leave; a client that reads nothing for so long ends the statement.
func (p *reply) send(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.stall))
	return p.w.Write(b)
}

// finish ends a response that went well. The summary is in its header unless output has left before.
func (p *reply) finish(s chdb.Stats, elapsed time.Duration) error {
	if !p.started {
		p.w.Header().Set("X-ClickHouse-Summary", summary(s, elapsed))
		if p.held.Len() == 0 {
			p.w.Header().Set("Content-Length", "0") // the driver takes this for "no result"
		}
		if err := p.start(); err != nil {
			return err
		}
	}
	return p.close()
}

func (p *reply) close() error {
	for _, c := range p.closers {
		if err := c.Close(); err != nil {
			return err
		}
	}
	_ = p.control.SetWriteDeadline(time.Now().Add(p.stall))
	return nil
}

// fail reports an exception: as a status where nothing has left yet, else as the block that drivers look for.
func (p *reply) fail(e *chdb.Exception) {
	text := message(e, p.version)
	if !p.started {
		h := p.w.Header()
		h.Del("X-ClickHouse-Format")
		h.Set("X-ClickHouse-Exception-Code", strconv.Itoa(e.Code))
		h.Set("Content-Type", "text/plain; charset=UTF-8")
		if e.Code == authFailed.number {
			h.Set("WWW-Authenticate", `Basic realm="ClickHouse server HTTP API"`)
		}
		_ = p.control.SetWriteDeadline(time.Now().Add(p.stall))
		p.w.WriteHeader(status(e))
		_, _ = io.WriteString(p.w, text+"\n")
		return
	}
	text = strings.ToValidUTF8(text[:min(len(text), exceptionBytes)], "")
	if p.raw != nil {
		p.out = p.raw
	}
	_, _ = fmt.Fprintf(p.out, "\r\n__exception__\r\n%s\r\n%s\n%d %s\r\n__exception__\r\n", p.tag, text, len(text)+1, p.tag)
	_ = p.close()
}

// summary is the X-ClickHouse-Summary header: numbers as strings, as servers write them.
func summary(s chdb.Stats, elapsed time.Duration) string {
	return fmt.Sprintf(`{"read_rows":"%d","read_bytes":"%d","written_rows":"%d","written_bytes":"%d","total_rows_to_read":"0","result_rows":"%d","result_bytes":"%d","elapsed_ns":"%d"}`,
		s.ReadRows, s.ReadBytes, s.WrittenRows, s.WrittenBytes, s.ResultRows, s.ResultBytes, elapsed.Nanoseconds())
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// blockWriter compresses in ClickHouse's framed blocks.
type blockWriter struct {
	w io.Writer
	c *compress.Writer
}

func (z *blockWriter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		k := min(len(b), blockSize)
		if err := z.c.Compress(b[:k]); err != nil {
			return 0, err
		}
		if _, err := z.w.Write(z.c.Data); err != nil {
			return 0, err
		}
		b = b[k:]
	}
	return n, nil
}
