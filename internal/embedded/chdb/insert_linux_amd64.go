package chdb

import "errors"

// Insert is an INSERT that takes its data in pieces. Nothing else runs on its connection until Done or Cancel.
type Insert struct {
	lib *Library
	s   uintptr
}

// Insert starts one: text has no FORMAT clause ("INSERT INTO t (a, b)"), format names that of the data.
func (c *Conn) Insert(text []byte, format string, params map[string]string) (*Insert, error) {
	a := newArguments(text, format, params)
	defer a.release()
	s := c.lib.insert(c.handle(), a.text, a.textLen, a.format, a.formatLen, a.pNames, a.pNameLens, a.pValues, a.pValueLen, uintptr(len(params)))
	if s == 0 {
		return nil, errors.New("start insert: the engine returned nothing")
	}
	if err := exception(c.lib.insertError(s)); err != nil {
		c.lib.destroyIns(s)
		return nil, err
	}
	return &Insert{lib: c.lib, s: s}, nil
}

// Write appends data, which may end anywhere. It blocks while the engine is behind.
func (i *Insert) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	a := &arguments{}
	defer a.release()
	if i.lib.appendData(i.s, a.bytes(b), uintptr(len(b))) != 0 {
		if err := exception(i.lib.insertError(i.s)); err != nil {
			return 0, err
		}
		return 0, errors.New("append to insert: the stream has ended")
	}
	return len(b), nil
}

// Done commits and returns what was written. The Insert is over, also after an error.
func (i *Insert) Done() (Stats, error) {
	defer i.lib.destroyIns(i.s)
	r := i.lib.done(i.s)
	if r == 0 {
		return Stats{}, errors.New("finish insert: the engine returned nothing")
	}
	defer i.lib.destroy(r)
	if err := exception(i.lib.resultError(r)); err != nil {
		return Stats{}, err
	}
	return i.lib.stats(r), nil
}

// Cancel drops what has not been committed and ends the Insert.
func (i *Insert) Cancel() {
	i.lib.cancelIns(i.s)
	i.lib.destroyIns(i.s)
}
