package query

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrCursor says that a cursor is none of ours, or belongs to another question.
var ErrCursor = errors.New("is no cursor of this question: take next_cursor of the page before, with the same parameters, or begin without one")

// cursorVersion changes with the meaning of a cursor's fields; other versions are refused.
const cursorVersion = 1

// cursor is where a page ended. Question is a digest of what was asked, Mark the ingested time as of
// which all pages are read.
type cursor struct {
	Version  int    `json:"v"`
	Question string `json:"q"`
	Mark     int64  `json:"m"`
	Time     int64  `json:"t"`
	Source   string `json:"s"`
	Key      string `json:"k"`
}

// checkBytes is how much of a digest guards a cursor. It is no secret: whoever forges a cursor reads
// what he may read anyway, but a mangled one must not quietly begin somewhere else.
const checkBytes = 8

func (c cursor) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		return "" // numbers and text always marshal
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(append(sum[:checkBytes], text...))
}

// maxCursor bounds what is decoded.
const maxCursor = 4096

func parseCursor(text, question string) (cursor, error) {
	refused := func(why string) (cursor, error) { return cursor{}, fmt.Errorf("cursor (%s) %w", why, ErrCursor) }
	if len(text) > maxCursor {
		return refused("too long")
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) <= checkBytes {
		return refused("not whole")
	}
	body := raw[checkBytes:]
	if sum := sha256.Sum256(body); string(sum[:checkBytes]) != string(raw[:checkBytes]) {
		return refused("altered")
	}
	var c cursor
	if err := json.Unmarshal(body, &c); err != nil {
		return refused("altered")
	}
	switch {
	case c.Version != cursorVersion:
		return refused(fmt.Sprintf("version %d, this is %d", c.Version, cursorVersion))
	case c.Question != question:
		return refused("of another question")
	}
	return c, nil
}

// digestOf names a question.
func digestOf(question any) string {
	text, err := json.Marshal(question)
	if err != nil {
		return "" // questions are plain data
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
