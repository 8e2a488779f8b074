package collector

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// killsVariable is how many kills there are; 10 where it is not set (make bench-durability: 200).
const killsVariable = "FAULTLINE_KILLS"

// Collector and store are killed at random moments under load, now one, now the other, now both, in their first moments
// too. Nothing that was acknowledged is lost, and whoever counts by key counts nothing twice.
func TestKilledAtRandom(t *testing.T) {
	kills := 10
	if text := os.Getenv(killsVariable); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", killsVariable, err)
		}
	}
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number does
	dice := rand.New(rand.NewPCG(seed, 0))
	cfg := embeddedtest.Config(t.TempDir())
	cfg.Listen, cfg.Fsync = ports(t, 1)[0], true
	store, err := embeddedtest.Start(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := newProcess(t, store.DSN)
	load := startLoad(c.otlp, 3)
	for n := range kills {
		// Every fifth pause is so short that it meets a start.
		pause := time.Duration(dice.IntN(1500)) * time.Millisecond
		if n%5 == 4 {
			pause = time.Duration(dice.IntN(30)) * time.Millisecond
		}
		time.Sleep(pause)
		what := dice.IntN(3)
		if what != 1 {
			c.kill()
		}
		if what != 0 {
			if err := store.Kill(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(dice.IntN(1000)) * time.Millisecond)
			if store, err = embeddedtest.Start(t, cfg); err != nil {
				t.Fatal(err)
			}
		}
		if what != 1 {
			c.launch()
		}
	}
	c.healthy()
	load.stop()
	conn := connect(t, store.DSN)
	s := &sender{c: c, acked: load.acked}
	begun := time.Now()
	c.within(10*time.Minute, "every acknowledged record is there", func() error { return s.missing(conn) })
	drained := time.Since(begun)
	keys, err := number(conn, "SELECT uniqExact(time, service, key) FROM events")
	if err != nil {
		t.Fatal(err)
	}
	records, err := number(conn, "SELECT uniqExact(body) FROM events")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := number(conn, "SELECT count() FROM events")
	if err != nil {
		t.Fatal(err)
	}
	if keys != records {
		t.Errorf("%d records have %d keys: some would be counted twice", records, keys)
	}
	if len(load.acked) < kills {
		t.Errorf("only %d batches were acknowledged", len(load.acked))
	}
	t.Logf("seed %d: %d kills, %d records acknowledged of %d sent, 0 lost; %d records read, %d rows stored; the last backlog took %s", seed, kills,
		len(load.acked)*perBatch, load.sent*perBatch, records, rows, drained.Round(100*time.Millisecond))
	c.stop()
}

// load sends numbered batches from several senders for as long as it runs. A batch without an answer is not sent again:
// it may be there or not.
type load struct {
	mu    sync.Mutex
	acked []int
	sent  int
	done  chan struct{}
	all   sync.WaitGroup
}

func startLoad(address string, senders int) *load {
	l := &load{done: make(chan struct{})}
	for range senders {
		l.all.Go(func() {
			// Killed peers leave connections behind that a pool would offer again.
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
			for {
				select {
				case <-l.done:
					return
				case <-time.After(10 * time.Millisecond):
				}
				l.mu.Lock()
				l.sent++
				batch := l.sent
				l.mu.Unlock()
				body, err := logs(perBatch, fmt.Sprintf("batch %d record", batch), map[string]any{"allocation_id": fmt.Sprintf("a-%d", batch%7), "request_id": fmt.Sprintf("r-%d", batch)}).MarshalProto()
				if err != nil {
					panic(err) // it was made here
				}
				if status, _ := send(client, address, "/v1/logs", protobuf, body); status == http.StatusOK {
					l.mu.Lock()
					l.acked = append(l.acked, batch)
					l.mu.Unlock()
				}
			}
		})
	}
	return l
}

func (l *load) stop() {
	close(l.done)
	l.all.Wait()
}
