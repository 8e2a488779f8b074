package live

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// ordinaryLines are a sample of what belongs to no allocation and is no complaint, or of what any allocation was answered: two lines of a kind of a
// service in a minute, as a store gives them around troubles (correlator/clickhouse/sql/context.sql, answers.sql). Those of requests are of a kind by what
// was answered and by their words, events by their state, and tell what others met; of the others one service's are all of one kind, and tell who was at
// work. The zero value is empty.
type ordinaryLines struct {
	kinds map[lineKind][]*correlator.Event // in order of time
	seed  maphash.Seed
}

// lineKind is one kind of line of one service.
type lineKind struct {
	service string
	status  int
	words   uint64
}

// Bounds of the sample.
const (
	aMinute   = 2             // lines of a kind
	mostKinds = 1000          // more are not kept
	keptFor   = 2 * time.Hour // so long ago at most, by the newest line of the kind
)

func (o *ordinaryLines) add(e *correlator.Event) {
	if o.kinds == nil {
		o.kinds, o.seed = map[lineKind][]*correlator.Event{}, maphash.MakeSeed()
	}
	k := o.kind(e)
	list := o.kinds[k]
	if list == nil && len(o.kinds) >= mostKinds {
		return
	}
	minute := e.At - e.At%int64(time.Minute)
	first, end := at(list, minute), at(list, minute+int64(time.Minute))
	place, held := slices.BinarySearchFunc(list, e, correlator.CompareEvents)
	switch {
	case held:
		return
	case end-first < aMinute:
	case place < end: // the first two of a minute are kept, in whatever order they come
		list = slices.Delete(list, end-1, end)
	default:
		return
	}
	list = slices.Insert(list, place, e)
	o.kinds[k] = slices.Delete(list, 0, at(list, list[len(list)-1].At-int64(keptFor)))
}

// at is the index of the first event of a time or later.
func at(list []*correlator.Event, t int64) int {
	i, _ := slices.BinarySearchFunc(list, t, func(e *correlator.Event, t int64) int { return cmp.Compare(e.At, t) })
	return i
}

func (o *ordinaryLines) kind(e *correlator.Event) lineKind {
	k := lineKind{service: e.Service, status: e.HTTP.Status}
	switch {
	case e.IsEvent():
		k.words = wordsWithoutDigits(o.seed, e.Name+" "+e.To()+" "+e.Attr(semconv.TaskType)+" "+e.Attr(semconv.Operation))
	case k.status != 0 && e.Body != "":
		k.words = wordsWithoutDigits(o.seed, e.Body)
	case k.status != 0: // a span
		k.words = wordsWithoutDigits(o.seed, e.Name+" "+e.HTTP.Method+" "+e.HTTP.Path)
	}
	return k
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
	if len(o.kinds) == 0 {
		return false
	}
	k := o.kind(e)
	list := o.kinds[k]
	i, same := slices.BinarySearchFunc(list, e, correlator.CompareEvents)
	if held = same && list[i] == e; held {
		if o.kinds[k] = slices.Delete(list, i, i+1); len(list) == 1 {
			delete(o.kinds, k)
		}
	}
	return held
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
		o.add(e)
	}
}

// bound lets go of kinds of which nothing was heard for long.
func (o *ordinaryLines) bound(now int64) {
	for k, list := range o.kinds {
		if list[len(list)-1].At < now-int64(keptFor) {
			delete(o.kinds, k)
		}
	}
}

// closest is how many lines of a kind a case has of those around a moment; mostMoments bounds how many moments are looked around.
const (
	closest     = 3
	mostMoments = 10
)

// around are those that were said closest to where troubles begin and end, and to now, where one is not over, in order of time.
func (o *ordinaryLines) around(troubles []*correlator.Trouble, now int64) (out []*correlator.Event) {
	var moments []int64
	for _, t := range troubles {
		moments = append(moments, min(t.From, t.At), t.At)
		if t.Cleared == 0 {
			moments = append(moments, now)
		}
	}
	slices.Sort(moments)
	moments = slices.CompactFunc(moments, func(a, b int64) bool { return max(a-b, b-a) < int64(time.Minute) })
	for _, list := range o.kinds {
		taken := 0 // the index up to which lines of this kind are given
		for _, t := range moments[:min(len(moments), mostMoments)] {
			first, end := around(list, t)
			first = max(first, taken)
			if first < end {
				out, taken = append(out, list[first:end]...), end
			}
		}
	}
	slices.SortFunc(out, correlator.CompareEvents)
	return out
}

// during are a sample of what was said while troubles lasted, the first two of a kind in ten minutes, as a store gives it, in order of time: a trouble may
// last so long that nothing of its middle is close to where it begins or ends.
func (o *ordinaryLines) during(troubles []*correlator.Trouble, now int64) (out []*correlator.Event) {
	const stretch = int64(10 * time.Minute)
	given := map[*correlator.Event]bool{}
	for _, t := range troubles {
		from, to := min(t.From, t.At), max(t.At, t.Cleared)
		if t.Cleared == 0 {
			to = max(to, now)
		}
		to = min(to, t.At+contextMargin)
		for _, list := range o.kinds {
			end := at(list, to+1)
			for i := at(list, from); i < end; {
				next := list[i].At - list[i].At%stretch + stretch
				for _, e := range list[i:min(i+aMinute, end)] {
					if e.At < next && !given[e] {
						given[e] = true
						out = append(out, e)
					}
				}
				i = at(list, next)
			}
		}
	}
	slices.SortFunc(out, correlator.CompareEvents)
	return out
}

// around are the first and the end of the few of a list that are closest to a time.
func around(list []*correlator.Event, t int64) (first, end int) {
	first = at(list, t)
	end = first
	for end-first < closest {
		older := first > 0 && list[first-1].At >= t-contextMargin
		newer := end < len(list) && list[end].At <= t+contextMargin
		switch {
		case older && (!newer || t-list[first-1].At <= list[end].At-t):
			first--
		case newer:
			end++
		default:
			return first, end
		}
	}
	return first, end
}
