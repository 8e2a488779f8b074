package lokiexporter

import (
	"context"
	"fmt"
	"hash/maphash"
	"net/http"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// searchAtMost is how many pushes of a search may be refused with none that is taken.
	searchAtMost = 64
	// suspectAfter is how often a push of which nothing is taken is refused before it is to blame, and not Loki.
	suspectAfter = 10
)

// search tries the entries in ever smaller parts, large ones first. An entry that is refused by itself is dropped if any
// neighbour was taken; where none is, it may as well be Loki or a proxy that is in trouble, and everything is tried again.
// Parts of the push that Loki had taken before are sent to it the same once more, which it recognises.
func (d *delivery) search(ctx context.Context, whole push, v verdict, a answer) error {
	type part struct {
		push    push
		verdict verdict
		answer  answer
	}
	todo, alone := []part{{whole, v, a}}, []part(nil)
	taken, refusals := 0, 0
	for len(todo) > 0 {
		one := todo[0]
		todo = todo[1:]
		if one.push.entries() == 1 {
			if one.verdict == tooLarge {
				d.drop(ctx, one.push, refusedSize, one.answer.text)
			} else {
				alone = append(alone, one)
			}
			continue
		}
		if one.verdict == unclear {
			if refusals++; refusals > searchAtMost && taken == 0 {
				return d.keep(whole, one.answer)
			}
		}
		for _, half := range halvesOf(one.push) {
			v, a, err := d.push(ctx, half)
			switch {
			case err != nil:
				return err
			case v == settled:
				taken++
			default:
				todo = append(todo, part{half, v, a})
			}
		}
	}
	if len(alone) > 0 && taken == 0 && !d.exporter.poison.again(d.batch.encode(whole), d.exporter.taken.Load()) {
		return d.keep(whole, alone[0].answer)
	}
	for _, one := range alone {
		d.drop(ctx, one.push, refusedOther, one.answer.text)
	}
	return nil
}

// keep says that a push is to be sent again.
func (d *delivery) keep(p push, a answer) error {
	return fmt.Errorf("nothing of %d records of stream %s was taken: %w", p.entries(), short(p[0].stream.labels), &statusError{http.StatusBadRequest, a.text})
}

func halvesOf(p push) [2]push {
	a, b := p.halves()
	return [2]push{a, b}
}

// suspects remembers pushes that were refused whole. One that can never be taken would hold its place in the queue for ever.
type suspects struct {
	mu    sync.Mutex
	seed  maphash.Seed
	known *lru.Cache[uint64, suspect]
}

type suspect struct {
	refused int
	taken   int64 // pushes that Loki had taken when this one was refused first
}

func newSuspects() *suspects {
	known, err := lru.New[uint64, suspect](64)
	if err != nil {
		panic(fmt.Sprintf("suspects: %v", err)) // 64 is a size
	}
	return &suspects{seed: maphash.MakeSeed(), known: known}
}

// again notes that a push was refused once more, and says whether it is to blame: others were taken meanwhile.
func (s *suspects) again(body []byte, taken int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := maphash.Bytes(s.seed, body)
	one, ok := s.known.Get(name)
	if !ok {
		one.taken = taken
	}
	one.refused++
	s.known.Add(name, one)
	return one.refused >= suspectAfter && taken > one.taken
}
