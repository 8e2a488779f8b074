package query

import (
	"context"
	"errors"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Line is a line of a log as it was written, with all that is kept beside it.
type Line struct {
	Time   correlator.Time   `json:"time"`
	Line   string            `json:"line"`
	Labels map[string]string `json:"labels"` // and structured metadata
}

// LineQuestion asks for the lines of a stretch of time.
type LineQuestion struct {
	Sources  []string // who wrote them; one at least
	Key, ID  string   // the identifier that they carry; an empty key: any
	From, To int64    // Unix nanoseconds, To excluded
	Most     int
}

// Lines is where raw lines are kept beside the store's records: a Loki.
type Lines interface {
	// Lines gives the oldest of the lines that are asked for, in order of time. A *LinesUnavailable where it cannot be asked.
	Lines(ctx context.Context, q LineQuestion) ([]Line, error)
}

// LinesUnavailable says that who keeps the lines does not answer, or not as it should.
type LinesUnavailable struct {
	Where string // its host
	Err   error
}

func (e *LinesUnavailable) Error() string { return "read lines from " + e.Where + ": " + e.Err.Error() }
func (e *LinesUnavailable) Unwrap() error { return e.Err }

// Whose lines are shown around a record.
const (
	OfAllocation = "allocation" // those of its source that carry the allocation
	OfNode       = "node"       // those of its source that carry its node instance, else its node
	OfSource     = "source"     // all of its source
)

// LinesAround is what was written around a record.
type LinesAround struct {
	Ref     string          `json:"ref"`
	Service string          `json:"source"`
	From    correlator.Time `json:"from"`
	To      correlator.Time `json:"to"`
	Lines   []Line          `json:"lines"`
	Bounded bool            `json:"bounded"` // there are more, later ones
}

// LinesAround reads the lines that the source of a record wrote shortly before and after it. Our own index says who that is, when it was, and
// which identifier it carries: what keeps the lines has to look at a minute of one stream. errors.ErrUnsupported where no lines are kept.
func (s *Service) LinesAround(ctx context.Context, allocation, ref, of string, within time.Duration, most int) (LinesAround, error) {
	if s.Lines == nil {
		return LinesAround{}, errors.ErrUnsupported
	}
	if err := s.admit(ctx, allocation); err != nil {
		return LinesAround{}, err
	}
	if of != OfAllocation && ScopeOf(ctx).limited {
		return LinesAround{}, ErrScope // what is not the allocation's may speak of anybody
	}
	e, err := s.Raw(ctx, allocation, ref)
	if err != nil {
		return LinesAround{}, err
	}
	q := LineQuestion{Sources: []string{e.Source}, From: int64(e.Time) - int64(within), To: int64(e.Time) + int64(within) + 1, Most: most + 1}
	switch of {
	case OfAllocation:
		q.Key, q.ID = semconv.AllocationID, allocation
	case OfNode:
		for _, key := range []string{semconv.NodeInstanceID, semconv.NodeID} {
			if q.Key == "" && e.IDs[key] != "" {
				q.Key, q.ID = key, e.IDs[key]
			}
		}
		if q.Key == "" {
			return LinesAround{}, ErrUnknown // the record is of no node
		}
	}
	lines, err := s.Lines.Lines(ctx, q)
	if err != nil {
		return LinesAround{}, err
	}
	out := LinesAround{Ref: ref, Service: e.Source, From: correlator.Time(q.From), To: correlator.Time(q.To), Lines: lines}
	if out.Bounded = len(lines) > most; out.Bounded {
		out.Lines = lines[:most]
	}
	if out.Lines == nil {
		out.Lines = []Line{}
	}
	return out, nil
}
