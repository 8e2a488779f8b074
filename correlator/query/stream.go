package query

import (
	"context"
	"errors"
)

// Told is a revision, and the cursor behind it.
type Told struct {
	Said
	Cursor string
}

// Stream is what is said of an allocation, or of all, from a cursor on.
type Stream struct {
	Past   []Told      // said behind the cursor, until now
	Cursor string      // behind Past
	Next   <-chan Told // closed when the reader is too far behind
	Close  func()
	// Hidden says whether the caller may not see a word.
	Hidden func(context.Context, Told) (bool, error)
}

// Streams are where words come from as they are said.
type Streams interface {
	// Stream gives what is said of an allocation ("" for all) behind a cursor; from now on where that is empty. ErrCursor where
	// the cursor is none of ours.
	Stream(ctx context.Context, allocation, cursor string) (Stream, error)
}

// Stream gives what is said of an allocation, or of all that the caller may see.
func (s *Service) Stream(ctx context.Context, allocation, cursor string) (Stream, error) {
	if s.Streams == nil {
		return Stream{}, errors.ErrUnsupported
	}
	if allocation != "" {
		if err := s.admit(ctx, allocation); err != nil {
			return Stream{}, err
		}
		if known, err := s.Resolve(ctx, allocation); err != nil || len(known) == 0 {
			return Stream{}, err
		}
	}
	out, err := s.Streams.Stream(ctx, allocation, cursor)
	if err != nil {
		return out, err
	}
	out.Hidden = func(ctx context.Context, e Told) (bool, error) {
		ok, err := s.sees(ctx, e.ID)
		return !ok, err
	}
	past := out.Past[:0]
	for _, e := range out.Past {
		hidden, err := out.Hidden(ctx, e)
		if err != nil {
			out.Close()
			return out, err
		}
		if !hidden {
			past = append(past, e)
		}
	}
	out.Past = past
	return out, nil
}

// Tag names the answer about an allocation as it is now; "" where it may change without a word.
func (s *Service) Tag(ctx context.Context, allocation string) (string, error) {
	if s.Overview == nil || ScopeOf(ctx).limited {
		return "", nil
	}
	tag, _ := s.Overview.Tag(allocation)
	return tag, nil
}
