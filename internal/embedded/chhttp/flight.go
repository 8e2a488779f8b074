package chhttp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

// killAgain is how often KILL is repeated: the first may come before the engine has begun.
const killAgain = 50 * time.Millisecond

// flights are the statements that run now, and the connection that ends them.
type flights struct {
	mu      sync.Mutex // one statement at a time on control
	control *chdb.Conn

	byID sync.Map // query id → *flight
}

// flight is one running statement.
type flight struct {
	id, tag string
	cancel  context.CancelFunc
	landed  chan struct{}
	watched chan struct{}
}

// begin watches a statement of the session tag: when ctx ends, it is killed. Call the result before the session is given back.
func (f *flights) begin(ctx context.Context, id, tag string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	l := &flight{id: id, tag: tag, cancel: cancel, landed: make(chan struct{}), watched: make(chan struct{})}
	f.byID.Store(id, l)
	go func() {
		defer close(l.watched)
		select {
		case <-l.landed:
			return
		case <-ctx.Done():
		}
		for {
			f.kill(tag)
			select {
			case <-l.landed:
				return
			case <-time.After(killAgain):
			}
		}
	}()
	return ctx, func() {
		close(l.landed)
		<-l.watched
		f.byID.CompareAndDelete(id, l)
		cancel()
	}
}

// kill ends what the session runs. KILL takes no {param}: the tag is our own and is quoted all the same.
func (f *flights) kill(tag string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// An error means that nothing was there to kill any more.
	_ = f.control.Exec("KILL QUERY WHERE Settings['log_comment'] = " + quoteString(tag) + " ASYNC")
}

// translateKill rewrites KILL QUERY: the engine gives ids of its own, so WHERE query_id = '…' is looked up here, and SYNC
// becomes ASYNC, since SYNC waits for ever for a query whose session is being read.
func (f *flights) translateKill(text string) string {
	if first := words(text, 2); len(first) < 2 || first[0] != "KILL" || first[1] != "QUERY" {
		return text
	}
	m := killPattern.FindStringSubmatch(text)
	if m == nil {
		return syncPattern.ReplaceAllString(text, "ASYNC$1")
	}
	tag, mode := "", "ASYNC"
	if l, ok := f.byID.Load(m[1]); ok {
		tag = l.(*flight).tag
	}
	if strings.EqualFold(m[2], "TEST") {
		mode = "TEST"
	}
	return fmt.Sprintf("KILL QUERY WHERE Settings['log_comment'] = %s %s", quoteString(tag), mode)
}

// cancelAll ends every running statement.
func (f *flights) cancelAll() {
	f.byID.Range(func(_, l any) bool {
		l.(*flight).cancel()
		return true
	})
}
