package identity

import (
	"math/rand/v2"
	"sync"
)

// lockWidth is how many readers pass without touching each other's cache line.
const lockWidth = 8

// wideLock is a read-write lock for very many readers: a reader takes any one of its parts, a writer
// all of them.
type wideLock struct {
	parts [lockWidth]struct {
		sync.RWMutex
		_ [128 - 24]byte // a cache line of its own, and the one that is fetched beside it
	}
}

// RLock gives the part to RUnlock.
func (l *wideLock) RLock() *sync.RWMutex {
	part := &l.parts[rand.Uint32()%lockWidth].RWMutex
	part.RLock()
	return part
}

func (l *wideLock) Lock() {
	for i := range l.parts {
		l.parts[i].Lock()
	}
}

func (l *wideLock) Unlock() {
	for i := len(l.parts) - 1; i >= 0; i-- {
		l.parts[i].Unlock()
	}
}
