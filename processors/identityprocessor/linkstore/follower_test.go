package linkstore

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// What becomes visible within the overlap is told, whatever the order, and carried over once.
func TestEveryLinkIsToldOnce(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			s := &fake{}
			cfg := DefaultConfig()
			const n = 400
			late := 0
			for i := range n {
				stamp := time.Now().Add(time.Duration(r.Int64N(int64(20*time.Minute))) - 5*time.Minute).Truncate(time.Second) // inserts of several rows
				delay := time.Duration(r.Int64N(int64(cfg.Overlap)))
				if r.IntN(4) > 0 {
					delay /= 1000
				} else if stamp.After(time.Now()) {
					late++
				}
				s.add(i, stamp, stamp.Add(delay))
			}
			f, x := following(t, cfg, s)
			time.Sleep(20 * time.Minute)
			synctest.Wait()
			for i := range n {
				if !x.Knows(request(i)) {
					t.Errorf("seed %d: link %d, stamped %v, is not known", seed, i, time.UnixMicro(s.rows[i].stamp))
				}
			}
			// An insert that becomes visible bit by bit is read anew as it grows.
			if _, carried := s.counts(); carried > n+8*late {
				t.Errorf("seed %d: %d rows were carried over for %d links", seed, carried, n)
			}
			if err := f.Stop(); err != nil || !s.closed {
				t.Error(err, s.closed)
			}
			if len(f.cursor.read) > 200 {
				t.Errorf("seed %d: %d inserts are remembered", seed, len(f.cursor.read))
			}
		})
	}
}

// Where nothing is late no row is carried over twice.
func TestNothingIsCarriedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fake{}
		const n = 2000
		for i := range n {
			at := time.Now().Add(time.Duration(i-n/4) * time.Second) // some before the start
			s.add(i, at, at)
		}
		f, x := following(t, DefaultConfig(), s)
		time.Sleep(n * time.Second)
		_, carried := s.counts()
		if known := x.Stats().Subjects; known != n || carried != n {
			t.Errorf("%d of %d links are known, %d rows were carried over", known, n, carried)
		}
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// The edge of the guarantee: a row that becomes visible after its overlap is missed, one just before is
// not, and the next warm start finds it.
func TestAfterTheOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fake{}
		cfg := DefaultConfig()
		f, x := following(t, cfg, s)
		now := time.Now()
		s.add(1, now, now.Add(cfg.Overlap-time.Second))
		s.add(2, now, now.Add(3*cfg.Overlap))
		time.Sleep(4 * cfg.Overlap)
		if !x.Knows(request(1)) || x.Knows(request(2)) {
			t.Error(x.Knows(request(1)), x.Knows(request(2)))
		}
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
		f, x = following(t, cfg, s)
		if !x.Knows(request(1)) || !x.Knows(request(2)) {
			t.Error("the warm start missed a link")
		}
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// While the store is away attempts become rare; when it is back everything of the meantime is told.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fake{away: true}
		cfg := DefaultConfig()
		begun := time.Now()
		logged, said := observer.New(zap.InfoLevel)
		f, x := following(t, cfg, s, logged)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the start waited %s for a store that is away", took)
		}
		s.add(1, time.Now().Add(-time.Hour), time.Now())
		time.Sleep(3 * time.Hour)
		if looks, _ := s.counts(); looks > 3*60*2+20 {
			t.Errorf("%d attempts in three hours", looks)
		}
		s.set(false)
		time.Sleep(2 * time.Minute)
		if !x.Knows(request(1)) {
			t.Error("the warm start did not come when the store did")
		}
		s.set(true)
		for i := range 100 {
			s.add(2+i, time.Now().Add(time.Duration(i)*time.Minute), time.Now())
		}
		time.Sleep(100 * time.Minute)
		s.mu.Lock()
		s.away, s.breaks, s.carried = false, 40, 0 // and it breaks off once more
		s.mu.Unlock()
		time.Sleep(3 * time.Minute)
		if _, carried := s.counts(); carried > 101 { // the one that was seen last, again
			t.Errorf("%d rows were carried over for 100 links", carried)
		}
		var lines []string
		for _, e := range said.All() {
			lines = append(lines, e.Level.String()+" "+e.Message[:15])
		}
		if diff := cmp.Diff([]string{"warn links of other ", "info links are share", "warn links of other ", "info links are share"}, lines); diff != "" {
			t.Errorf("-want +said:\n%s", diff)
		}
		for i := range 100 {
			if !x.Knows(request(2 + i)) {
				t.Errorf("link %d of the time in which the store was away is not known", i)
			}
		}
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// A store that takes a question and never answers is one that is away: the start does not wait for it
// longer than it may, and what was missed is told when it answers again.
func TestHanging(t *testing.T) {
	for _, atOnce := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := &fake{hangs: true, hangsAtOnce: atOnce}
			s.add(1, time.Now().Add(-time.Hour), time.Now())
			cfg := DefaultConfig()
			begun := time.Now()
			f, x := following(t, cfg, s)
			if took := time.Since(begun); took > cfg.WarmStart.MaxWait {
				t.Errorf("the start took %s", took)
			}
			time.Sleep(10 * time.Minute)
			s.mu.Lock()
			s.hangs = false
			s.mu.Unlock()
			time.Sleep(2 * time.Minute)
			if !x.Knows(request(1)) {
				t.Error("it was never asked again")
			}
			s.mu.Lock()
			s.hangs = true
			s.mu.Unlock()
			time.Sleep(time.Minute)
			if err := f.Stop(); err != nil { // also while it hangs
				t.Error(err)
			}
		})
	}
}

// A warm start is bounded in rows and in time; the newest links are the ones that are read.
func TestWarmStartIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fake{}
		for i := range 1000 {
			at := time.Now().Add(-time.Duration(1000-i) * time.Hour / 4)
			s.add(i, at, at)
		}
		cases := []struct {
			age        time.Duration
			rows, want int
		}{
			{7 * 24 * time.Hour, 1_000_000, 672}, {24 * time.Hour, 1_000_000, 96}, {7 * 24 * time.Hour, 100, 100}, {0, 1_000_000, 0}, {24 * time.Hour, 0, 0},
		}
		for _, c := range cases {
			cfg := DefaultConfig()
			cfg.WarmStart.MaxAge, cfg.WarmStart.MaxRows = c.age, c.rows
			f, x := following(t, cfg, s)
			if n := x.Stats().Subjects; n != c.want || c.want > 0 && !x.Knows(request(999)) {
				t.Errorf("%s, %d rows: %d links, want %d", c.age, c.rows, n, c.want)
			}
			if err := f.Stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestStopWithoutStart(t *testing.T) {
	cfg := DefaultConfig()
	cfg.DSN = "http://127.0.0.1:21001/nowhere"
	f, err := New(&cfg, nil, componenttest.NewNopTelemetrySettings())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Stop(); err != nil {
		t.Error(err)
	}
}
