package clickhouseexporter

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// suspectAfter is how often a batch is refused with an obscure error before its rows are tried apart: minutes, with
	// the retries' default intervals.
	suspectAfter = 10
	// triesAlone is how often one row is tried by itself before it is to blame: a store in trouble refuses at random.
	triesAlone = 3
	// searchAtMost is how many inserts of a search may fail with none that succeeds.
	searchAtMost = 64
)

// poisonTracker remembers which batches were refused with an error that may be of a row or of the store. One whose rows can
// never be stored would hold its place in the queue for ever; one that meets a store in trouble must be kept. There is
// one for each table: that one takes rows says nothing of the other.
type poisonTracker struct {
	stored atomic.Int64 // inserts that the table took

	mu    sync.Mutex
	known *lru.Cache[string, suspect]
}

type suspect struct {
	refused int
	stored  int64 // inserts that the table had taken when this one was refused first
}

func newPoisonTracker() *poisonTracker {
	known, err := lru.New[string, suspect](64)
	if err != nil {
		panic(fmt.Sprintf("poison tracker: %v", err)) // 64 is a size
	}
	return &poisonTracker{known: known}
}

// again notes that a batch, named by its token, was refused once more, and says whether that was often enough.
func (p *poisonTracker) again(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, ok := p.known.Get(name)
	if !ok {
		one.stored = p.stored.Load()
	}
	one.refused++
	p.known.Add(name, one)
	return one.refused >= suspectAfter
}

// since is how many inserts the table had taken when the batch was refused first.
func (p *poisonTracker) since(name string) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, _ := p.known.Peek(name)
	return one.stored
}

// search tries the rows in ever smaller parts, large ones first, and drops those that are refused by
// themselves, if it is they: at least as many of their neighbours were stored, or, of one row, others' batches.
// Otherwise it gives the error, and everything is tried again.
func (s *store) search(ctx context.Context, block insertable, before int64, why error) error {
	type part struct{ from, to int }
	todo := []part{{0, block.rows()}}
	if block.rows() > 1 {
		todo = []part{{0, block.rows() / 2}, {block.rows() / 2, block.rows()}}
	}
	var refused []int
	stored, failed := 0, 0
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		single := p.to-p.from == 1
		err := s.insertOnce(ctx, block, p.from, p.to)
		for try := 1; single && doubtful(err) && try < triesAlone; try++ {
			err = s.insertOnce(ctx, block, p.from, p.to)
		}
		switch {
		case err == nil:
			stored += p.to - p.from
		case single && isContent(err):
			block.dropped(ctx, p.from, err)
		case single && doubtful(err):
			refused, why = append(refused, p.from), err
		case single, !obscure(err) && !splits(err):
			return err // it is the store after all
		default:
			middle := p.from + (p.to-p.from)/2
			todo = append(todo, part{p.from, middle}, part{middle, p.to})
		}
		if err != nil {
			if failed++; failed > searchAtMost && stored == 0 {
				return why
			}
		}
	}
	if alone := block.rows() == 1 && s.poison[block.table()].stored.Load() > before; stored < len(refused) && !alone {
		return why
	}
	for _, row := range refused {
		block.dropped(ctx, row, why)
	}
	return nil
}
