package collector

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// outageVariable is how many records arrive while the store is away (make bench-durability: 1,800,000, a tenth of an
// hour at 5,000 a second).
const outageVariable = "FAULTLINE_OUTAGE"

// A store that stays away: what arrives meanwhile lies on disk, oldest first, the Collector takes no more memory for it,
// and all of it is there afterwards. The Collector is stopped and started in the middle, with the store away.
func TestLongOutage(t *testing.T) {
	records := 50_000
	if text := os.Getenv(outageVariable); text != "" {
		var err error
		if records, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", outageVariable, err)
		}
	}
	cfg := embeddedtest.Config(t.TempDir())
	cfg.Listen = ports(t, 1)[0]
	store, err := embeddedtest.Start(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	c := newProcess(t, store.DSN, data)
	conn := connect(t, store.DSN)
	if status, answer := c.postLogs(logs(1, "before", nil)); status != http.StatusOK {
		t.Fatal(status, answer)
	}
	c.reaches(conn, "SELECT count() FROM events", 1)
	if err := store.Kill(); err != nil {
		t.Fatal(err)
	}

	const perRequest = 500
	var requests []int // anonymous memory in KiB at each eighth
	begun := time.Now()
	for part := range 8 {
		if part == 4 {
			c.stop() // in good order, as an upgrade would
			c.start()
		}
		if err := c.burst(part, records/8/perRequest, perRequest); err != nil {
			t.Fatal(err)
		}
		requests = append(requests, c.memory())
	}
	took := time.Since(begun)
	queue, held := folder(t, filepath.Join(data, "collector", "queue")), records/8/perRequest*perRequest*8
	t.Logf("%d records in %s (%.0f/s) while the store was away: %d B on disk, %d B a record; anonymous memory %v KiB", held, took.Round(time.Second),
		float64(held)/took.Seconds(), queue, queue/int64(held), requests)
	if grown := requests[7] - requests[4]; grown > 150<<10 {
		t.Errorf("the Collector grew by %d KiB while it waited", grown)
	}

	if _, err := embeddedtest.Start(t, cfg); err != nil {
		t.Fatal(err)
	}
	begun = time.Now()
	c.within(time.Hour, "as many rows as records", func() error { // a count costs the store nothing
		n, err := number(conn, "SELECT count() FROM events")
		if err == nil && n <= held {
			err = fmt.Errorf("%d of %d", n, held+1)
		}
		return err
	})
	c.reachesWithin(20*time.Minute, conn, "SELECT uniqExact(time, service, key) FROM events", held+1)
	t.Logf("all there %s after the store was back; anonymous memory %d KiB", time.Since(begun).Round(100*time.Millisecond), c.memory())
	c.reaches(conn, "SELECT count() FROM (SELECT substring(body, 1, position(body, ' of ')) AS part, uniqExact(time, service, key) AS n FROM events WHERE body != 'before 0' GROUP BY part) WHERE n = "+strconv.Itoa(held/8), 8)
	c.stop()
}

// burst sends so many requests, over four connections.
func (c *process) burst(part, requests, records int) error {
	var all sync.WaitGroup
	var next atomic.Int64
	var mu sync.Mutex
	var errs []error
	for range 4 {
		all.Go(func() {
			for n := next.Add(1); int(n) <= requests; n = next.Add(1) {
				r := logs(records, fmt.Sprintf("part %d of a node's journal: request %d, line of some length as nodes write them", part, n), map[string]any{
					"allocation_id": fmt.Sprintf("a-%d", n%100), "node_id": fmt.Sprintf("n-%d", n%37), "unit": "kubelet.service"})
				if status, answer := c.postLogs(r); status != http.StatusOK {
					mu.Lock()
					errs = append(errs, fmt.Errorf("%d: %s", status, answer))
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// memory is what the process holds beside files, in KiB: the pages of a mapped queue are the system's to take back.
func (c *process) memory() int {
	c.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		c.t.Skip("NOT TESTED here: memory is read from /proc")
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

func folder(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}
	return bytes
}

// A bound of the queue is met with a refusal that names it, and what was taken before stays.
func TestFullQueue(t *testing.T) {
	cfg := embeddedtest.Config(t.TempDir())
	cfg.Listen = ports(t, 1)[0]
	store, err := embeddedtest.Start(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := newProcess(t, store.DSN)
	c.stop()
	c.setting("exporters: {faultline_clickhouse: {sending_queue: {queue_size: 2000, batch: {min_size: 100, max_size: 1000}}}}")
	c.start()
	if err := store.Kill(); err != nil {
		t.Fatal(err)
	}
	s := &sender{c: c}
	if said := s.untilRefused(20); !strings.Contains(said, "sending queue is full") {
		t.Errorf("the bound is not named: %s", said)
	}
	if _, err := embeddedtest.Start(t, cfg); err != nil {
		t.Fatal(err)
	}
	c.eventually("every acknowledged record is there", func() error { return s.missing(connect(t, store.DSN)) })
	c.eventually("it takes again", func() error {
		if s.send(1); s.acked[len(s.acked)-1] != s.batch {
			return errors.New("refused")
		}
		return nil
	})
	c.stop()
}

// A store that takes connections and never answers is as good as away: stopped then, the Collector keeps its queue.
func TestStoppedWhileTheStoreHangs(t *testing.T) {
	cfg := embeddedtest.Config(t.TempDir())
	cfg.Listen = ports(t, 1)[0]
	store, err := embeddedtest.Start(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := newProcess(t, store.DSN)
	conn := connect(t, store.DSN)
	s := &sender{c: c}
	s.send(3)
	c.eventually("the store has the first", func() error { return s.missing(conn) })
	if err := store.Kill(); err != nil {
		t.Fatal(err)
	}
	hang := http.Server{Addr: cfg.Listen, ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}
	go func() { _ = hang.ListenAndServe() }()
	s.send(20)
	time.Sleep(time.Second)
	c.stop()
	_ = hang.Close()
	if len(s.acked) != 23 {
		t.Fatalf("%d batches were acknowledged", len(s.acked))
	}
	if _, err := embeddedtest.Start(t, cfg); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.eventually("every acknowledged record is there", func() error { return s.missing(conn) })
	c.stop()
}
