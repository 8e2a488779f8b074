package live

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
)

// ordinaryLines are a sample of what belongs to no allocation and is no complaint: two lines of a kind of a service in a minute, as a store gives them
// around troubles (correlator/clickhouse/sql/context.sql). They tell what others met, and who was at work. The zero value is empty.
type ordinaryLines struct {
	lines []*correlator.Event // in order of time
	kept  map[lineKind]int
	seed  maphash.Seed
}

// lineKind is one kind of line of one service in one minute.
type lineKind struct {
	service string
	status  int
	words   uint64
	minute  int64
}

// ofAKind is how many lines of a kind are kept.
const ofAKind = 2

func (o *ordinaryLines) add(e *correlator.Event) {
	if o.kept == nil {
		o.kept, o.seed = map[lineKind]int{}, maphash.MakeSeed()
	}
	k := o.kind(e)
	if o.kept[k] >= ofAKind {
		return
	}
	o.kept[k]++
	o.insert(e)
}

func (o *ordinaryLines) insert(e *correlator.Event) {
	at, _ := slices.BinarySearchFunc(o.lines, e, correlator.CompareEvents)
	o.lines = slices.Insert(o.lines, at, e)
}

// moved puts an event, where it is held, to its new place in time.
func (o *ordinaryLines) moved(e *correlator.Event, from int64) {
	if e.At == from {
		return
	}
	to := e.At
	e.At = from
	held := o.remove(e)
	if e.At = to; held {
		o.insert(e)
	}
}

func (o *ordinaryLines) kind(e *correlator.Event) lineKind {
	return lineKind{e.Service, e.HTTP.Status, wordsWithoutDigits(o.seed, e.Body), e.At / int64(time.Minute)}
}

// wordsWithoutDigits is equal for lines that are alike but for their words with digits: identifiers, times, sizes.
func wordsWithoutDigits(seed maphash.Seed, line string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	begun, digits := 0, false
	for i := 0; i <= len(line); i++ {
		if i < len(line) && !parts[line[i]] {
			digits = digits || line[i] >= '0' && line[i] <= '9'
			continue
		}
		if !digits {
			_, _ = h.WriteString(line[begun:i])
		}
		if i < len(line) {
			_ = h.WriteByte(line[i])
		}
		begun, digits = i+1, false
	}
	return h.Sum64()
}

// parts are the characters between words.
var parts = func() (set [256]bool) {
	for _, c := range []byte(" \t\n\f\r/\"?&=,;:()[]{}|") {
		set[c] = true
	}
	return set
}()

// remove says whether the event was held.
func (o *ordinaryLines) remove(e *correlator.Event) (held bool) {
	i, same := slices.BinarySearchFunc(o.lines, e, correlator.CompareEvents)
	if held = same && o.lines[i] == e; held {
		o.lines = slices.Delete(o.lines, i, i+1)
	}
	return held
}

// bound keeps the newest of too many.
func (o *ordinaryLines) bound(most int) {
	if len(o.lines) <= most {
		return
	}
	o.lines = slices.Delete(o.lines, 0, len(o.lines)-most*3/4)
	oldest := o.lines[0].At / int64(time.Minute)
	for k := range o.kept {
		if k.minute < oldest {
			delete(o.kept, k)
		}
	}
}

// around are those that were said close to where troubles begin and end, and now, where one is not over.
func (o *ordinaryLines) around(troubles []*correlator.Trouble, now int64) (out []*correlator.Event) {
	if len(o.lines) == 0 {
		return nil
	}
	var close [][2]int64
	for _, t := range troubles {
		near := []int64{min(t.From, t.At), t.At}
		if t.Cleared == 0 {
			near = append(near, now)
		}
		for _, at := range near {
			close = append(close, [2]int64{at - contextMargin, at + contextMargin})
		}
	}
	slices.SortFunc(close, func(a, b [2]int64) int { return int(min(max(a[0]-b[0], -1), 1)) })
	next := 0
	for _, c := range close {
		i, _ := slices.BinarySearchFunc(o.lines[next:], c[0], func(e *correlator.Event, from int64) int { return int(min(max(e.At-from, -1), 1)) })
		for next += i; next < len(o.lines) && o.lines[next].At <= c[1]; next++ {
			out = append(out, o.lines[next])
		}
	}
	return out
}
