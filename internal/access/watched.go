package access

import (
	"os"
	"slices"
	"sync"
	"time"
)

// watched is what files say. It is read again when one of them changes; one that cannot be read leaves what was known.
type watched[T any] struct {
	paths []string
	read  func() (T, error)

	mu      sync.Mutex
	current *T
	changed []time.Time
}

func (w *watched[T]) get() (value T, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed := make([]time.Time, 0, len(w.paths))
	for _, path := range w.paths {
		info, statErr := os.Stat(path)
		if statErr != nil {
			err = statErr
			break
		}
		changed = append(changed, info.ModTime())
	}
	if err == nil && w.current != nil && slices.EqualFunc(changed, w.changed, time.Time.Equal) {
		return *w.current, nil
	}
	if err == nil {
		value, err = w.read()
	}
	switch {
	case err == nil:
		w.current, w.changed = &value, changed
	case w.current == nil:
		return value, err
	}
	return *w.current, nil
}
