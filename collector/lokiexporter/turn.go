package lokiexporter

import (
	"context"
	"hash/maphash"
	"slices"
)

// turns let one push of a stream go at a time. Loki writes pushes to its write-ahead log outside the lock of the stream: of two
// at once the later one may stand there first, and the other is then left out when Loki, killed, reads its log again.
type turns struct {
	seed  maphash.Seed
	slots [256]chan struct{} // streams that share one wait for each other, too
}

func newTurns() *turns {
	t := &turns{seed: maphash.MakeSeed()}
	for i := range t.slots {
		t.slots[i] = make(chan struct{}, 1)
	}
	return t
}

// take waits until nothing else of the push's streams is under way. What it returns ends the turn.
func (t *turns) take(ctx context.Context, p push) (done func(), err error) {
	var taken []int
	for _, one := range p {
		taken = append(taken, int(maphash.String(t.seed, one.stream.labels)%uint64(len(t.slots)))) //nolint:gosec // less than 256
	}
	slices.Sort(taken) // so that no two wait for each other
	taken = slices.Compact(taken)
	for i, slot := range taken {
		select {
		case t.slots[slot] <- struct{}{}:
		case <-ctx.Done():
			t.end(taken[:i])
			return nil, ctx.Err()
		}
	}
	return func() { t.end(taken) }, nil
}

func (t *turns) end(taken []int) {
	for _, slot := range taken {
		<-t.slots[slot]
	}
}
