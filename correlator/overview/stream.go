package overview

import (
	"context"

	"github.com/faultline-io/faultline/correlator/query"
)

// streamed is how many revisions wait for a reader; one that is further behind is ended, and goes on from its cursor.
const streamed = 1024

// reader is one that is told what is said from one moment on, in the order in which each replica said it: nothing is left out
// or repeated where it goes on from the cursor of what it read last.
type reader struct {
	said   chan query.Told // closed when the reader is too far behind, or does not read any more
	of     *Overview
	only   string // an allocation, "" for all
	closed bool
}

var _ query.Streams = (*Overview)(nil)

// Stream implements query.Streams. It waits for the first reading: what that finds is told to nobody as new, and a reader who came
// back before it would miss what was said while it was away.
func (o *Overview) Stream(ctx context.Context, allocation, cursor string) (out query.Stream, err error) {
	at, err := parseCursor(cursor, o.seal)
	if err != nil {
		return out, err
	}
	select {
	case <-o.begun:
	case <-ctx.Done():
		return out, context.Cause(ctx)
	}
	s := &reader{said: make(chan query.Told, streamed), of: o, only: allocation}
	o.mu.Lock()
	now := o.position.clone()
	o.streams[s] = true
	o.mu.Unlock()
	out = query.Stream{Cursor: now.cursor(o.seal), Next: s.said, Close: s.close}
	if cursor == "" {
		return out, nil
	}
	// What was said meanwhile is read of the store; what the stream will bring lies behind now.
	for since := at.Floor; ; {
		said, err := o.from.SaidSince(ctx, since, most)
		if err != nil {
			s.close()
			return out, err
		}
		for _, one := range said {
			if !at.before(one) || now.before(one) {
				continue
			}
			at.advance(one)
			if s.wants(one) {
				out.Past = append(out.Past, query.Told{Said: one, Cursor: at.cursor(o.seal)})
			}
		}
		if len(said) < most || said[len(said)-1].Ingested == since {
			return out, nil
		}
		since = said[len(said)-1].Ingested
	}
}

func (s *reader) wants(one query.Said) bool { return s.only == "" || s.only == one.ID }

// close ends the stream.
func (s *reader) close() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.end()
}

// end is close for those who hold the lock.
func (s *reader) end() {
	if !s.closed {
		s.closed = true
		close(s.said)
		delete(s.of.streams, s)
	}
}

// tell hands what was said to every stream.
func (o *Overview) tell(said []query.Said) {
	for _, one := range said {
		if !o.position.before(one) {
			continue // it became visible after what came later of the same replica: it has been told of, or is told by a reading
		}
		o.position.advance(one)
		var cursor string
		for s := range o.streams {
			if !s.wants(one) {
				continue
			}
			if cursor == "" {
				cursor = o.position.cursor(o.seal)
			}
			select {
			case s.said <- query.Told{Said: one, Cursor: cursor}:
			default:
				s.end()
			}
		}
	}
}
