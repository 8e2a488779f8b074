package chdb

import "errors"

// Stream runs a query and hands each chunk of output, with its Stats, to yield; the bytes are valid only inside yield.
// An error of yield cancels the query and is returned. Whole blocks come in one chunk. The session is free on return.
func (c *Conn) Stream(text []byte, format string, params map[string]string, yield func([]byte, Stats) error) error {
	a := newArguments(text, format, params)
	defer a.release()
	s := c.lib.streamQuery(c.handle(), a.text, a.textLen, a.format, a.formatLen, a.pNames, a.pNameLens, a.pValues, a.pValueLen, uintptr(len(params)))
	if s == 0 {
		return errors.New("start query: the engine returned nothing")
	}
	defer c.lib.destroy(s)
	if err := exception(c.lib.resultError(s)); err != nil {
		return err
	}
	for {
		more, err := c.chunk(s, yield)
		if err != nil {
			c.lib.cancelQuery(c.handle(), s)
			return err
		}
		if !more {
			return nil
		}
	}
}

// chunk hands one chunk over; more is false at the end of the stream.
func (c *Conn) chunk(stream uintptr, yield func([]byte, Stats) error) (more bool, err error) {
	r := c.lib.fetch(c.handle(), stream)
	if r == 0 {
		return false, nil
	}
	defer c.lib.destroy(r)
	if err := exception(c.lib.resultError(r)); err != nil {
		return false, err
	}
	b := c.lib.bytes(r)
	return len(b) > 0, yield(b, c.lib.stats(r))
}
