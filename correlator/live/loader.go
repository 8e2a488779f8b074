package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/faultline-io/faultline/correlator/query"
)

// loader reads the whole record sets of allocations that began before this process followed, one at a time.
type loader struct {
	reader query.Reader

	mu      sync.Mutex
	queue   []string
	urgent  []string         // those of which something arrived: read first
	waiting map[string]int64 // in a queue, being read, or read and not taken yet: since which time of arrival
	asked   map[string]bool  // being read, or read and not taken yet
	read    []loaded
	wake    chan struct{}
}

// loaded is a record set that was read.
type loaded struct {
	id      string
	records *query.RecordSet
}

// maxRead bounds how many record sets lie read and not taken: they may be large.
const maxRead = 16

// again is how long after a failure a record set is asked for once more.
const again = time.Second

func newLoader(r query.Reader) *loader {
	return &loader{reader: r, waiting: map[string]int64{}, asked: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// want asks for a record set, of which something has waited since a time of arrival, 0 where nothing does; asking again while it
// is under way changes nothing but that. What is urgent overtakes.
func (l *loader) want(id string, urgent bool, since int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, waits := l.waiting[id]
	if since == 0 || waits && before != 0 && before < since {
		since = before
	}
	l.waiting[id] = since
	if l.asked[id] || waits && !urgent {
		return
	}
	if urgent {
		if !slices.Contains(l.urgent, id) {
			l.urgent = append(l.urgent, id)
		}
	} else {
		l.queue = append(l.queue, id)
	}
	l.signal()
}

func (l *loader) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take gives the record sets that were read since.
func (l *loader) take() []loaded {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.read
	l.read = nil
	for _, one := range out {
		delete(l.waiting, one.id)
		delete(l.asked, one.id)
	}
	l.signal()
	return out
}

// behind is how many record sets are still to be read.
func (l *loader) behind() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// oldest is the time of arrival of the oldest record that waits for a record set to be read, 0 where none does.
func (l *loader) oldest() (at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, since := range l.waiting {
		if since != 0 && (at == 0 || since < at) {
			at = since
		}
	}
	return at
}

func (l *loader) next() (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.read) < maxRead {
		from := &l.urgent
		if len(*from) == 0 {
			from = &l.queue
		}
		if len(*from) == 0 {
			break
		}
		id := (*from)[0]
		*from = (*from)[1:]
		if _, waits := l.waiting[id]; waits && !l.asked[id] { // else it was read on the other queue's account
			l.asked[id] = true
			return id, true
		}
	}
	return "", false
}

// run reads until ctx ends.
func (l *loader) run(ctx context.Context) {
	for {
		id, ok := l.next()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-l.wake:
			}
			continue
		}
		if ctx.Err() != nil {
			return
		}
		whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), atMost) // see Service.look
		set, err := l.reader.RecordSet(whole, id, 0)
		cancel()
		if errors.Is(err, query.ErrUnknown) {
			set, err = &query.RecordSet{}, nil // what the feed brought is all there is
		}
		l.mu.Lock()
		if err != nil {
			l.queue = append(l.queue, id)
			delete(l.asked, id)
		} else {
			l.read = append(l.read, loaded{id: id, records: set})
		}
		l.mu.Unlock()
		if err != nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(again):
			}
		}
	}
}
