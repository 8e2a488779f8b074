// Package chaos lets a lab make faults inside a provisioner. Without an address in the configuration there is
// none of it: a nil *Switches is a provisioner that is well. Every switch is held for a moment only and has to
// be held again, so that a lab that is killed leaves nothing behind.
package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/faultline-io/faultline/provisioner/store"
)

// The faults.
const (
	Worker  = "worker"  // nobody works on workflows
	Stuck   = "stuck"   // the worker hangs in a step
	Timeout = "timeout" // tasks expire before anybody can claim them
	Relay   = "relay"   // the relay hangs: its process lives, and the outbox is not relayed
	Gone    = "gone"    // the relay's process is gone, and its telemetry with it
	Poison  = "poison"  // of each message's payload the second half is lost on its way
	Pool    = "pool"    // every connection to the database is taken
)

// longest is for how long a switch can be held at once.
const longest = 30 * time.Second

// patience is how long the connections are asked for. A transaction that holds one and waits for another gives up
// only after its own wait (Config.PoolWait, seven seconds).
const patience = 20 * time.Second

// Switches are what is wrong at the moment. Safe for use by several goroutines.
type Switches struct {
	exhaustPool func(context.Context) (release func(), err error)

	mu      sync.Mutex
	until   map[string]time.Time
	changed chan struct{} // closed, and made anew, when one is turned on or off
	release func()        // gives the connections back
}

// New makes switches that are all off. exhaustPool takes every connection of the database.
func New(exhaustPool func(context.Context) (func(), error)) *Switches {
	return &Switches{exhaustPool: exhaustPool, until: map[string]time.Time{}, changed: make(chan struct{})}
}

// Validate reports whether an address is one that only this machine can reach; "" is none at all.
func Validate(address string) error {
	if address == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("faults: %q is no host:port", address)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return errors.New("faults: must be an address of this machine alone, such as 127.0.0.1:9487")
	}
	return nil
}

// On reports whether a fault is on.
func (s *Switches) On(name string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.until[name])
}

// Run runs a part until ctx ends; while its fault is on, the part is stopped.
func (s *Switches) Run(ctx context.Context, name string, part func(context.Context) error) error {
	if s == nil {
		return part(ctx)
	}
	for ctx.Err() == nil {
		if s.On(name) {
			s.wait(ctx)
			continue
		}
		run, stop := context.WithCancel(ctx)
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			for run.Err() == nil && !s.On(name) {
				s.wait(run)
			}
			stop()
		}()
		err := part(run)
		stop()
		<-watching
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// Block waits while a fault is on.
func (s *Switches) Block(ctx context.Context, name string) {
	for s.On(name) && ctx.Err() == nil {
		s.wait(ctx)
	}
}

// wait is until something changes, or might have.
func (s *Switches) wait(ctx context.Context) {
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-time.After(250 * time.Millisecond):
	}
}

// Publisher is what messages are published to: with poison, only half of each arrives, which cannot be decoded.
func (s *Switches) Publisher(p Publisher) Publisher {
	if s == nil {
		return p
	}
	return poisoned{s, p}
}

// Publisher is the outbox's.
type Publisher interface {
	Publish(ctx context.Context, m store.Message) error
}

type poisoned struct {
	switches *Switches
	Publisher
}

func (p poisoned) Publish(ctx context.Context, m store.Message) error {
	if p.switches.On(Poison) {
		m.Payload = m.Payload[:len(m.Payload)/2]
	}
	return p.Publisher.Publish(ctx, m)
}

// Handler takes `POST /faults/{name}?for=5s`, which holds a switch, and `DELETE /faults/{name}`.
func (s *Switches) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/faults/{name}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if !slices.Contains([]string{Worker, Stuck, Timeout, Relay, Gone, Poison, Pool}, name) {
			http.Error(w, "no such fault", http.StatusNotFound)
			return
		}
		var held time.Duration
		switch r.Method {
		case http.MethodPost:
			var err error
			if held, err = time.ParseDuration(r.URL.Query().Get("for")); err != nil || held <= 0 || held > longest {
				http.Error(w, fmt.Sprintf("for: a duration of at most %s", longest), http.StatusBadRequest)
				return
			}
		case http.MethodDelete:
		default:
			http.Error(w, "POST or DELETE", http.StatusMethodNotAllowed)
			return
		}
		if err := s.set(name, held); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return m
}

// set holds a switch for so long from now; 0 lets go of it.
func (s *Switches) set(name string, held time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == Pool {
		if err := s.pool(held); err != nil {
			return err
		}
	}
	s.until[name] = time.Now().Add(held) // from when it is on: to take every connection can last longer than that
	close(s.changed)
	s.changed = make(chan struct{})
	return nil
}

// pool takes the connections, or gives them back. It is called with the lock held.
func (s *Switches) pool(held time.Duration) error {
	switch {
	case held > 0 && s.release == nil:
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		release, err := s.exhaustPool(ctx)
		if err != nil {
			return err
		}
		s.release = release
	case held <= 0 && s.release != nil:
		s.release()
		s.release = nil
	}
	return nil
}

// Expire lets go of what nobody holds any more, until ctx ends.
func (s *Switches) Expire(ctx context.Context) {
	for ctx.Err() == nil {
		s.wait(ctx)
		s.mu.Lock()
		if s.release != nil && (ctx.Err() != nil || !time.Now().Before(s.until[Pool])) {
			s.release()
			s.release = nil
		}
		s.mu.Unlock()
	}
}
