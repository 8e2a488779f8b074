package chdb

import (
	"errors"
	"unsafe"
)

// Conn is one session: a current database, settings, one statement at a time. Not safe for concurrent use.
type Conn struct {
	lib *Library
	p   unsafe.Pointer // chdb_connection *
}

func (c *Conn) handle() uintptr { return *(*uintptr)(c.p) }

// Close ends the session. Calling it twice is harmless.
func (c *Conn) Close() {
	if c.p != nil {
		c.lib.closeConn(c.p)
		c.p = nil
	}
}

// Query runs one statement to its end and returns a copy of its output in format. Use Stream for what may be large.
func (c *Conn) Query(text []byte, format string, params map[string]string) ([]byte, Stats, error) {
	a := newArguments(text, format, params)
	defer a.release()
	r := c.lib.query(c.handle(), a.text, a.textLen, a.format, a.formatLen, a.pNames, a.pNameLens, a.pValues, a.pValueLen, uintptr(len(params)))
	if r == 0 {
		return nil, Stats{}, errors.New("run statement: the engine returned nothing")
	}
	defer c.lib.destroy(r)
	if err := exception(c.lib.resultError(r)); err != nil {
		return nil, Stats{}, err
	}
	var out []byte
	if b := c.lib.bytes(r); len(b) > 0 {
		out = append(make([]byte, 0, len(b)), b...)
	}
	return out, c.lib.stats(r), nil
}

// Exec runs one statement and drops its output.
func (c *Conn) Exec(text string) error {
	_, _, err := c.Query([]byte(text), "Null", nil)
	return err
}

// Classify says what text holds, without running it.
func (c *Conn) Classify(text []byte) (Analysis, error) {
	a := newArguments(text, "", nil)
	defer a.release()
	// chdb_query_analysis_v1: struct_size, statement_count, flags, query_class.
	out := [4]uint32{16}
	a.pin.Pin(&out)
	if c.lib.classify(c.handle(), a.text, a.textLen, nil, 0, unsafe.Pointer(&out)) != 0 {
		return Analysis{}, errors.New("classify statement: the connection is closed")
	}
	return Analysis{Statements: int(out[1]), Flags: out[2], Class: Class(out[3])}, nil
}

func (l *Library) bytes(r uintptr) []byte {
	n, p := l.length(r), l.buffer(r)
	if p == nil || n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(p), n)
}

func (l *Library) stats(r uintptr) Stats {
	return Stats{
		ResultRows: l.resultRows(r), ResultBytes: l.resultBytes(r),
		ReadRows: l.storageRows(r), ReadBytes: l.storageBytes(r),
		WrittenRows: l.rowsWritten(r), WrittenBytes: l.bytesWritten(r),
	}
}
