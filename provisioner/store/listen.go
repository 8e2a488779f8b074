package store

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// channel is PostgreSQL's name for the notifications of commits.
const channel = "faultline_provisioner"

// gatherTime is how long a notification waits for more. NOTIFY inside of the transactions would have all commits take
// turns: PostgreSQL holds one lock of the whole server while it commits one. Afterwards, and gathered,
// it costs one statement for however many commits there were.
const gatherTime = 5 * time.Millisecond

// listener notifies other replicas of commits by NOTIFY, and is notified of theirs by LISTEN.
type listener struct {
	store *Store
	self  string // marks notifications of this process
	stop  context.CancelFunc
	work  sync.WaitGroup

	mu      sync.Mutex
	changes map[change]bool
	pending chan struct{} // changes is not empty
}

func listen(ctx context.Context, s *Store) (notifier, error) {
	if err := s.reader.PingContext(ctx); err != nil {
		return nil, err
	}
	l := &listener{store: s, self: telemetry.NewID("r"), changes: map[change]bool{}, pending: make(chan struct{}, 1)}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.work.Go(func() { l.receive(ctx) })
	l.work.Go(func() { l.send(ctx) })
	return l, nil
}

func (l *listener) close() {
	l.stop()
	l.work.Wait()
}

func (l *listener) notify(touched []change) {
	l.mu.Lock()
	for _, c := range touched {
		l.changes[c] = true
	}
	l.mu.Unlock()
	select {
	case l.pending <- struct{}{}:
	default:
	}
}

// send notifies the other processes of what was gathered. A failure is forgotten: they look again by a timer.
func (l *listener) send(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.pending:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(gatherTime):
		}
		l.mu.Lock()
		text := write(l.self, l.changes)
		clear(l.changes)
		l.mu.Unlock()
		if text != "" {
			_, _ = l.store.reader.ExecContext(ctx, `SELECT pg_notify($1, $2)`, channel, text)
		}
	}
}

// longest is what PostgreSQL takes of one notification, with room to spare.
const longest = 7000

// write is the sender, then topic or topic:node each; "" for no news. Where too many nodes are concerned,
// all are.
func write(self string, news map[change]bool) string {
	if len(news) == 0 {
		return ""
	}
	text := self
	for c := range news {
		if text += " " + topicNames[c.topic]; c.node != "" {
			text += ":" + c.node
		}
		if len(text) > longest {
			return self + " " + strings.Join(topicNames[:], " ")
		}
	}
	return text
}

// read leaves out notifications of this process itself, and topics that a later version may have.
func read(self, text string) []change {
	words := strings.Fields(text)
	if len(words) == 0 || words[0] == self {
		return nil
	}
	var out []change
	for _, word := range words[1:] {
		name, node, _ := strings.Cut(word, ":")
		for topic, known := range topicNames {
			if name == known {
				out = append(out, change{Topic(topic), node})
			}
		}
	}
	return out
}

// receive wakes waiters of this process at every notification of another one. After every connection,
// the first as well as one that replaces a broken one, all of them are woken: something may have been
// missed.
func (l *listener) receive(ctx context.Context) {
	for ctx.Err() == nil {
		_ = l.session(ctx) // the next session; meanwhile whoever waits looks by a timer
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (l *listener) session(ctx context.Context) error {
	c, err := pgx.Connect(ctx, l.store.target)
	if err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.Close(last)
	}()
	if _, err := c.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	l.store.topics.notify(read("", "all "+strings.Join(topicNames[:], " ")))
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		l.store.topics.notify(read(l.self, n.Payload))
	}
}
