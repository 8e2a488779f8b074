package lokiexporter

import (
	"io"
	"sync"

	"github.com/klauspost/compress/s2"
)

// buffers are used again for the next push, once nothing reads them any more.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// body is a compressed push while it is sent. An answer may come, or the sender give up, while the connection still reads: the
// buffer is given back when all readers are closed.
type body struct {
	mu     sync.Mutex
	buffer *[]byte
	text   []byte
	users  int
}

// compress gives a body that its caller holds until release.
func compress(plain []byte) *body {
	buffer := buffers.Get().(*[]byte)
	if need := s2.MaxEncodedLen(len(plain)); cap(*buffer) < need {
		*buffer = make([]byte, need)
	}
	return &body{buffer: buffer, text: s2.EncodeSnappy((*buffer)[:cap(*buffer)], plain), users: 1}
}

// reader is a new reader of the whole body.
func (b *body) reader() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users++
	return &bodyReader{body: b}
}

func (b *body) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users--; b.users == 0 {
		buffers.Put(b.buffer)
		b.buffer, b.text = nil, nil
	}
}

type bodyReader struct {
	body   *body
	read   int
	closed bool
}

func (r *bodyReader) Read(to []byte) (int, error) {
	r.body.mu.Lock()
	defer r.body.mu.Unlock()
	if r.closed || r.read == len(r.body.text) {
		return 0, io.EOF
	}
	n := copy(to, r.body.text[r.read:])
	r.read += n
	return n, nil
}

func (r *bodyReader) Close() error {
	r.body.mu.Lock()
	was := r.closed
	r.closed = true
	r.body.mu.Unlock()
	if !was {
		r.body.release()
	}
	return nil
}
