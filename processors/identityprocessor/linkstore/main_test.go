package linkstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/faultline-io/faultline/internal/identity"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), // the test store's
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

func request(n int) identity.Link {
	return identity.Link{Type: identity.Seen, Subject: identity.Key{Kind: identity.Request, ID: fmt.Sprintf("r-%d", n)}, Object: identity.Key{Kind: identity.Allocation, ID: fmt.Sprintf("a-%d", n)}}
}

// row is a link in a store that is made up: stamped at one time, visible from another.
type row struct {
	link
	from time.Time
}

// fake is a store whose clock is the test's.
type fake struct {
	mu    sync.Mutex
	rows  []row
	away  bool
	hangs bool // it takes a question and never answers

	hangsAtOnce bool // the first one already
	closed      bool
	breaks      int // after so many rows of a reading it goes away; 0: never

	looks, carried int
}

var errAway = errors.New("nobody answers")

func (s *fake) add(n int, stamp, visible time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, row{link{stamp.UnixMicro(), "api", request(n)}, visible})
}

func (s *fake) set(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

// counts are the looks so far and the rows that were carried over.
func (s *fake) counts() (looks, carried int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looks, s.carried
}

func (s *fake) visible(from, to int64) (out []link) {
	for _, r := range s.rows {
		if !r.from.After(time.Now()) && r.stamp >= from && r.stamp < to {
			out = append(out, r.link)
		}
	}
	slices.SortStableFunc(out, func(a, b link) int { return int(a.stamp - b.stamp) })
	return out
}

func (s *fake) recent(ctx context.Context, since int64, reach time.Duration) (recent, error) {
	if s.hangsAtOnce {
		if err := s.hang(ctx); err != nil {
			return recent{}, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	r := recent{now: time.Now().UnixMicro()}
	if s.away {
		return r, errAway
	}
	for _, l := range s.visible(max(since, r.now-reach.Microseconds()), 1<<62) {
		i := slices.Index(r.stamps, l.stamp)
		if i < 0 {
			i = len(r.stamps)
			r.stamps, r.visible = append(r.stamps, l.stamp), append(r.visible, 0)
		}
		r.visible[i]++
	}
	return r, nil
}

func (s *fake) give(links []link, each func(*link)) error {
	for i := range links {
		if s.breaks > 0 {
			if s.breaks--; s.breaks == 0 {
				return errAway
			}
		}
		s.carried++
		each(&links[i])
	}
	return nil
}

func (s *fake) inserts(_ context.Context, stamps []int64, each func(*link)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return errAway
	}
	return s.give(slices.DeleteFunc(s.visible(0, 1<<62), func(l link) bool { return !slices.Contains(stamps, l.stamp) }), each)
}

// hang waits with the one who asks, where the store hangs.
func (s *fake) hang(ctx context.Context) error {
	s.mu.Lock()
	hangs := s.hangs
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return nil
}

func (s *fake) between(ctx context.Context, from, to int64, each func(*link)) error {
	if err := s.hang(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return errAway
	}
	return s.give(s.visible(from, to), each)
}

func (s *fake) newest(_ context.Context, from, to int64, rows int) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return 0, errAway
	}
	all := s.visible(from, to)
	if len(all) <= rows {
		return from - 1, nil
	}
	return all[len(all)-1-rows].stamp, nil
}

func (s *fake) close() error { s.closed = true; return nil }

// following starts a Follower of a made-up store.
func following(t *testing.T, cfg Config, s *fake, logs ...zapcore.Core) (*Follower, *identity.Index) {
	t.Helper()
	x := identity.New(identity.Options{})
	set := componenttest.NewNopTelemetrySettings()
	set.Logger = zap.New(zapcore.NewTee(logs...))
	f, err := follow(&cfg, x, set, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f, x
}
