package linkstore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// told counts the links of one look.
type told struct{ fresh, known, refused int64 }

func (t told) all() int64 { return t.fresh + t.known + t.refused }

// look reads what has become visible since the last one: first the gap, where there is one (at the start,
// and after the store was away), then the last inserts. What was read counts, also where the
// look ends with an error.
func (f *Follower) look(ctx context.Context) (t told, err error) {
	r, err := f.recent(ctx)
	if err != nil {
		return t, err
	}
	// The gap may be large: its time limit is for a row, not for all.
	if from, to := f.cursor.gap(r.now, f.cfg.WarmStart.MaxAge); from < to && f.cfg.WarmStart.MaxRows > 0 {
		if err := f.catchUp(ctx, from, to, &t); err != nil {
			return t, fmt.Errorf("catch up: %w", err)
		}
	}
	if unread := f.cursor.unread(r); len(unread) > 0 {
		ctx, cancel := context.WithTimeoutCause(ctx, f.cfg.Timeout, errTimeout)
		defer cancel()
		if err := f.source.inserts(ctx, unread, func(l *link) { f.tell(l, &t) }); err != nil {
			return t, err
		}
	}
	f.cursor.advance(r)
	return t, nil
}

var errTimeout = errors.New("timeout is over")

func (f *Follower) recent(ctx context.Context) (recent, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, f.cfg.Timeout, errTimeout)
	defer cancel()
	return f.source.recent(ctx, f.cursor.place, f.cursor.reach())
}

// catchUp reads the newest links of [from, to). The cursor follows row by row, so that a failure half
// way costs no more than the rest.
func (f *Follower) catchUp(ctx context.Context, from, to int64, t *told) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(f.cfg.Timeout, func() { cancel(errTimeout) })
	defer stalled.Stop()
	behind, err := f.source.newest(ctx, from, to, f.cfg.WarmStart.MaxRows)
	if err != nil {
		return err
	}
	err = f.source.between(ctx, behind+1, to, func(l *link) {
		f.tell(l, t)
		f.cursor.place = l.stamp
		stalled.Reset(f.cfg.Timeout)
	})
	if err == nil {
		f.cursor.place = to
	}
	return err
}

func (f *Follower) tell(l *link, t *told) {
	switch {
	case f.index.Knows(l.link):
		t.known++
	case f.index.AddFrom(l.service, l.link) != nil:
		t.refused++
	default:
		t.fresh++
	}
}
