package chhttp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

// baseSettings hold for every statement that doesn't say otherwise.
//
// The block sizes keep an INSERT in memory until its last byte: one part per partition, or none. Without them the engine
// commits every million rows, and a client that went away would leave some of them. implicit_select would run any
// stray word as a query.
func baseSettings() map[string]string {
	return map[string]string{
		"min_insert_block_size_rows":  "1000000000000",
		"min_insert_block_size_bytes": "1000000000000",
		"implicit_select":             "0",
		"session_timezone":            "UTC",
	}
}

// session is one connection of the pool with what its last statement left behind.
type session struct {
	*chdb.Conn
	tag      string // its log_comment: how KILL finds what it runs
	database string
	settings map[string]string // those in force beside the base ones
	spoilt   bool              // state unknown: replaced before the next use
}

// fixed says that the session cannot be brought to these settings: where readonly is set, it takes no other.
func (s *session) fixed(want map[string]string) bool {
	set, ok := s.settings["readonly"]
	return ok && set != "0" && !maps.Equal(s.settings, want)
}

// prepare brings the session to the request's database and settings. An error leaves it spoilt.
func (s *session) prepare(database string, want map[string]string) (err error) {
	defer func() { s.spoilt = s.spoilt || err != nil }()
	if database != s.database {
		if err := s.Exec("USE " + quoteName(database)); err != nil {
			return err
		}
		s.database = database
	}
	if maps.Equal(s.settings, want) {
		return nil
	}
	base, set := baseSettings(), []string(nil)
	for k := range s.settings {
		if _, still := want[k]; still {
			continue
		}
		if v, ok := base[k]; ok {
			set = append(set, k+" = "+quoteString(v))
		} else {
			set = append(set, k+" = DEFAULT")
		}
	}
	for k, v := range want {
		if old, ok := s.settings[k]; !ok || old != v {
			set = append(set, k+" = "+quoteString(v))
		}
	}
	slices.Sort(set)
	if err := s.Exec("SET " + strings.Join(set, ", ")); err != nil {
		return err
	}
	s.settings = maps.Clone(want)
	return nil
}

// pool hands sessions out, a bounded number at once, to a bounded number of waiters.
type pool struct {
	open     func(args ...string) (*chdb.Conn, error)
	database string
	free     chan *session
	size     int
	closed   int // touched by close alone
	waiting  atomic.Int64
	limit    int64
	wait     time.Duration
}

func newPool(o Options) (*pool, error) {
	p := &pool{open: o.Open, database: o.Database, free: make(chan *session, o.Sessions), limit: int64(o.Waiting), wait: o.Wait}
	for n := range o.Sessions {
		s := &session{tag: fmt.Sprintf("faultline-session-%d", n), spoilt: true}
		if err := p.renew(s); err != nil {
			p.close(context.Background())
			return nil, err
		}
		p.free <- s
		p.size++
	}
	return p, nil
}

// renew gives the session a fresh connection where its state is unknown.
func (p *pool) renew(s *session) error {
	if !s.spoilt {
		return nil
	}
	if s.Conn != nil {
		s.Conn.Close()
		s.Conn = nil
	}
	args := []string{"--log_comment=" + s.tag}
	for k, v := range baseSettings() {
		args = append(args, "--"+k+"="+v)
	}
	slices.SortFunc(args, cmp.Compare[string])
	c, err := p.open(args...)
	if err != nil {
		return fmt.Errorf("open session %s: %w", s.tag, err)
	}
	if err := c.Exec("USE " + quoteName(p.database)); err != nil {
		c.Close()
		return fmt.Errorf("open session %s: %w", s.tag, err)
	}
	s.Conn, s.database, s.settings, s.spoilt = c, p.database, map[string]string{}, false
	return nil
}

// acquire waits for a session. Give it back with release.
func (p *pool) acquire(ctx context.Context) (*session, error) {
	var s *session
	select {
	case s = <-p.free:
	default:
		if p.waiting.Add(1) > p.limit {
			p.waiting.Add(-1)
			return nil, refusal(tooManyQueries, fmt.Sprintf("all %d sessions are busy and %d requests wait already: send fewer at once, or raise connections", p.size, p.limit))
		}
		defer p.waiting.Add(-1)
		late := time.NewTimer(p.wait)
		defer late.Stop()
		select {
		case s = <-p.free:
		case <-late.C:
			return nil, refusal(tooManyQueries, fmt.Sprintf("all %d sessions stayed busy for %s: send fewer at once, or raise connections", p.size, p.wait))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := p.renew(s); err != nil {
		p.free <- s
		return nil, err
	}
	return s, nil
}

func (p *pool) release(s *session) { p.free <- s }

// close waits for every session until ctx ends and closes those it got. It says whether it got all.
func (p *pool) close(ctx context.Context) bool {
	for p.closed < p.size {
		select {
		case s := <-p.free:
			if s.Conn != nil {
				s.Conn.Close()
				s.Conn = nil
			}
			p.closed++
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func quoteString(v string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`).Replace(v) + "'"
}

func quoteName(v string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "``", "\x00", `\0`).Replace(v) + "`"
}
