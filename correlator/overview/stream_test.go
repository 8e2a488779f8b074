package overview

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// Whoever comes back before a new server has read anything waits for that, and is told what was said meanwhile, once.
func TestAStreamWaitsForTheFirstReading(t *testing.T) {
	s := newStore()
	s.say("r-1", "before", correlator.None)
	o, look := looking(t, s, DefaultConfig())
	stream, err := o.Stream(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	s.say("r-1", "a-1", correlator.Undetermined)
	look()
	first := <-stream.Next
	stream.Close()
	s.say("r-1", "a-2", correlator.Undetermined) // while nobody listens

	next := New(s, DefaultConfig())
	next.now = func() time.Time { return time.Unix(0, s.at) }
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := next.Stream(gone, "", first.Cursor); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	streams := make(chan query.Stream)
	for _, cursor := range []string{first.Cursor, ""} {
		go func() {
			stream, err := next.Stream(t.Context(), "", cursor)
			if err != nil {
				t.Error(err)
			}
			streams <- stream
		}()
	}
	select {
	case <-streams:
		t.Error("a stream before anything was read")
	case <-time.After(50 * time.Millisecond):
	}
	if err := next.look(t.Context(), &follower{seen: map[key]int64{}}); err != nil {
		t.Fatal(err)
	}
	var past []string
	for range 2 {
		stream := <-streams
		for _, e := range stream.Past {
			past = append(past, e.ID)
		}
		stream.Close()
	}
	if d := cmp.Diff([]string{"a-2"}, past); d != "" {
		t.Error(d)
	}
}
