package collector

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// The disk of the queue is full while the store is away: what has no room is refused, so that its sender keeps it, and
// what was acknowledged is all there once the store is back, though the disk is still full then.
// Killed and started again meanwhile, too.
func TestDiskOfTheQueueIsFull(t *testing.T) {
	cfg := embeddedtest.Config(t.TempDir())
	cfg.Listen = ports(t, 1)[0]
	store, err := embeddedtest.Start(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	disk := smallDisk(t, 16)
	c := newProcess(t, store.DSN, disk)
	conn := connect(t, store.DSN)
	s := &sender{c: c}
	s.send(3)
	c.eventually("the store has the first", func() error { return s.missing(conn) })
	if err := store.Kill(); err != nil {
		t.Fatal(err)
	}
	if said := s.untilRefused(100); !strings.Contains(said, "fewer than min_free_mib") {
		t.Errorf("the bound is not named: %s", said)
	}
	ballast := fill(t, disk, 0) // somebody else takes the rest
	for range 3 {
		s.untilRefused(20)
		c.kill() // a start with a full disk is the worst of all
		c.start()
	}
	t.Logf("%d of %d batches acknowledged", len(s.acked), s.batch)
	if _, err := embeddedtest.Start(t, cfg); err != nil {
		t.Fatal(err)
	}
	c.eventually("every acknowledged record is there", func() error { return s.missing(conn) })
	// The queue's file is compacted once little is in it; then it takes again.
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	c.eventually("it takes again", func() error {
		if s.send(1); s.acked[len(s.acked)-1] != s.batch {
			return errors.New("refused")
		}
		return nil
	})
	s.send(10)
	c.eventually("the later ones as well", func() error { return s.missing(conn) })
	c.stop()
}

// untilRefused sends until so many batches were refused as OTLP wants it, which senders take as "keep it and come again".
// It gives the last refusal's text.
func (s *sender) untilRefused(refusals int) (said string) {
	s.c.t.Helper()
	for n, refused := 0, 0; refused < refusals; n++ {
		if n == 5000 {
			s.c.t.Fatal("the disk was never full")
		}
		switch status, answer := s.c.postLogs(s.next(strings.Repeat("x", 50*(n%40)))); status {
		case http.StatusOK:
			s.acked = append(s.acked, s.batch)
		case http.StatusServiceUnavailable:
			refused++
			said = answer
		default:
			s.c.t.Fatalf("a batch without room was answered with %d: %s", status, answer)
		}
	}
	return said
}

// The disk of the store is full: its records wait in the queue, nothing there is damaged, and they arrive once there
// is room.
func TestDiskOfTheStoreIsFull(t *testing.T) {
	disk := smallDisk(t, 192)
	cfg := embeddedtest.Config(disk)
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
	ballast := fill(t, disk, 64<<10)
	s.send(100)
	if len(s.acked) != s.batch {
		t.Fatalf("%d of %d batches were acknowledged", len(s.acked), s.batch)
	}
	c.eventually("the store says that it is full", func() error {
		if said := c.said(); !strings.Contains(said, "No space left") && !strings.Contains(said, "NOT_ENOUGH_SPACE") {
			return fmt.Errorf("it says nothing of that")
		}
		return nil
	})
	time.Sleep(time.Second)
	if s.missing(conn) == nil {
		t.Fatal("the disk was not full")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	c.eventually("every acknowledged record is there", func() error { return s.missing(conn) })
	var sound uint8
	if err := conn.QueryRow(t.Context(), "CHECK TABLE events SETTINGS check_query_single_value_result = 1").Scan(&sound); err != nil || sound != 1 {
		t.Errorf("the table is damaged: %v", err)
	}
	c.stop()
}
