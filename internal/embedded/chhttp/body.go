package chhttp

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/klauspost/compress/zstd"
)

// body reads a request's data: undone compression, a limit on what comes out, an end to a client that stalls.
//
// Decompressors report a cut-off stream and its end alike, so what arrived is judged at the source: whole says whether the
// client finished sending.
type body struct {
	source  *source
	data    io.Reader
	left    int64
	max     int64
	closers []io.Closer
}

func newBody(r *http.Request, w http.ResponseWriter, q *request, limit int64, stall time.Duration) (*body, error) {
	b := &body{source: &source{r: r.Body, control: http.NewResponseController(w), stall: stall}, left: limit, max: limit}
	b.data = b.source
	switch q.encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(b.source)
		if err != nil {
			return nil, b.fault(err)
		}
		b.data = z
	case "deflate":
		z, err := zlib.NewReader(b.source)
		if err != nil {
			return nil, b.fault(err)
		}
		b.data = z
	case "zstd":
		z, err := zstd.NewReader(b.source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(min(limit, 1<<30))))
		if err != nil {
			return nil, b.fault(err)
		}
		b.data, b.closers = z, append(b.closers, z.IOReadCloser())
	default:
		return nil, refusal(notImplemented, fmt.Sprintf("Content-Encoding %q is not served: gzip, deflate and zstd are", q.encoding))
	}
	if q.decompress {
		b.data = compress.NewReader(b.data)
	}
	return b, nil
}

func (b *body) close() {
	for _, c := range b.closers {
		c.Close()
	}
}

// fill reads until p is full or the data ends; done is true at the end of data that arrived whole.
func (b *body) fill(p []byte) (n int, done bool, err error) {
	for n < len(p) {
		k, err := b.data.Read(p[n:])
		n += k
		if b.left -= int64(k); b.left < 0 {
			return n, false, refusal(tooLarge, fmt.Sprintf("the body is larger than %d bytes: send smaller batches", b.max))
		}
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return n, false, b.fault(err)
		default:
			if err := b.whole(); err != nil {
				return n, false, err
			}
			return n, true, nil
		}
	}
	return n, false, nil
}

// whole reads what compression left unread at the source and reports a client that never finished.
func (b *body) whole() error {
	n, err := io.Copy(io.Discard, io.LimitReader(b.source, 4096))
	if err == nil && n == 0 && errors.Is(b.source.err, io.EOF) {
		return nil
	}
	if err == nil {
		err = errors.New("data after the end of the compressed stream")
	}
	return b.fault(err)
}

// fault words what went wrong while reading.
func (b *body) fault(err error) error {
	if s := b.source.err; s != nil && !errors.Is(s, io.EOF) {
		if errors.Is(s, os.ErrDeadlineExceeded) {
			return refusal(timeoutExceeded, fmt.Sprintf("the client sent nothing for %s", b.source.stall))
		}
		return refusal(networkError, "read request: "+s.Error())
	}
	return refusal(cannotDecompress, "read request: "+err.Error())
}

// all reads the whole of it.
func (b *body) all() ([]byte, error) {
	var out []byte
	for {
		if cap(out)-len(out) < 4096 {
			out = append(make([]byte, 0, max(8192, 2*cap(out))), out...)
		}
		n, done, err := b.fill(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if err != nil || done {
			return out, err
		}
	}
}

// source is the connection's side: each read has its deadline, the first error stays.
type source struct {
	r       io.Reader
	control *http.ResponseController
	stall   time.Duration
	err     error
}

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	// Not every connection has deadlines (a recorder in tests has none); then the server's own hold.
	_ = s.control.SetReadDeadline(time.Now().Add(s.stall))
	n, err := s.r.Read(p)
	if err != nil {
		s.err = err
		_ = s.control.SetReadDeadline(time.Time{}) // or the server takes the idle connection for a dead one
	}
	return n, err
}
