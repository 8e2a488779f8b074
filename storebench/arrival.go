package storebench

import (
	"container/heap"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// Batches gives the records in the order in which they arrive, those of many allocations interleaved,
// some late, about size at a time.
func (s Shape) Batches(size int) iter.Seq[*Batch] {
	return func(yield func(*Batch) bool) {
		p := newPlatform(s)
		b := newBatch()
		for {
			at, e, a, ok := p.next()
			if !ok {
				break
			}
			b.At = time.Unix(0, at)
			a.emit(b, e)
			if b.rows >= size {
				if !yield(b) {
					return
				}
				b = newBatch()
			}
		}
		if b.rows > 0 {
			yield(b)
		}
	}
}

// platform is all allocations that live at a time, and the nodes they are on.
type platform struct {
	shape  Shape
	rng    *rand.Rand
	begins []int64
	begun  int
	last   int64
	queue  arrivals
	free   freeNodes
	nodes  int
}

func newPlatform(s Shape) *platform {
	p := &platform{shape: s, rng: rand.New(rand.NewPCG(s.Seed, 1)), begins: s.begins(), last: s.Start.Add(s.Span()).UnixNano()}
	for ; p.nodes < max(2, s.Allocations()/allocationsANode); p.nodes++ {
		p.free = append(p.free, freeNode{name: nodeName(p.nodes)})
	}
	return p
}

func nodeName(n int) string { return fmt.Sprintf("node-r%02d-u%02d-%05d", n/40%64, n%40, n) }

// next gives the record that arrives next.
func (p *platform) next() (at int64, e emission, a *allocation, ok bool) {
	for p.begun < len(p.begins) && (len(p.queue) == 0 || p.begins[p.begun] <= p.queue[0].at) {
		p.begin()
	}
	if len(p.queue) == 0 {
		return 0, emission{}, nil, false
	}
	top := p.queue[0]
	if !top.follow {
		heap.Pop(&p.queue)
		return top.at, top.emission, top.allocation, true
	}
	a, e = top.allocation, top.allocation.pending[0]
	a.pending = a.pending[1:]
	if len(a.pending) > 0 {
		p.queue[0].at = max(top.at, a.pending[0].at+a.delay())
		heap.Fix(&p.queue, 0)
	} else {
		heap.Pop(&p.queue)
	}
	if a.rng.Float64() < lateShare {
		at := top.at + int64(5*time.Minute) + a.rng.Int64N(int64(48*time.Hour))
		heap.Push(&p.queue, arrival{at: at, allocation: a, emission: e})
		return p.next()
	}
	return top.at, e, a, true
}

// delay is how long a record takes to the store.
func (a *allocation) delay() int64 {
	return int64(200*time.Millisecond) + a.rng.Int64N(int64(3*time.Second))
}

func (p *platform) begin() {
	a := &allocation{number: p.begun, start: p.begins[p.begun], rng: rand.New(rand.NewPCG(p.shape.Seed, uint64(p.begun)+2))} //nolint:gosec // a count
	p.begun++
	a.id, a.instance, a.boot, a.tenant = a.uuid(), a.uuid(), a.uuid(), a.rng.IntN(200)
	for i := range a.workflow {
		a.workflow[i], a.correlation[i], a.trace[i] = a.uuid(), a.uuid(), a.hex(16)
	}
	a.plan(p.last)
	if len(p.free) == 0 || p.free[0].until > a.start { // all are taken: one more is bought
		heap.Push(&p.free, freeNode{name: nodeName(p.nodes)})
		p.nodes++
	}
	a.node = p.free[0].name
	p.free[0].until = a.end + int64(6*time.Minute) + p.rng.Int64N(int64(time.Hour))
	heap.Fix(&p.free, 0)
	heap.Push(&p.queue, arrival{at: a.pending[0].at + a.delay(), allocation: a, follow: true})
}

// arrival is the next record of an allocation, or one that is late.
type arrival struct {
	at         int64
	allocation *allocation
	follow     bool
	emission   emission
}

type arrivals []arrival

func (q arrivals) Len() int { return len(q) }
func (q arrivals) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].allocation.number < q[j].allocation.number
}
func (q arrivals) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *arrivals) Push(x any)   { *q = append(*q, x.(arrival)) }
func (q *arrivals) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

// freeNode is free again at a time.
type freeNode struct {
	until int64
	name  string
}

type freeNodes []freeNode

func (m freeNodes) Len() int { return len(m) }
func (m freeNodes) Less(i, j int) bool {
	return m[i].until < m[j].until || m[i].until == m[j].until && m[i].name < m[j].name
}
func (m freeNodes) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m *freeNodes) Push(x any)   { *m = append(*m, x.(freeNode)) }
func (m *freeNodes) Pop() any {
	old := *m
	x := old[len(old)-1]
	*m = old[:len(old)-1]
	return x
}

// hex gives n random bytes in hex.
func (a *allocation) hex(n int) string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], a.rng.Uint64())
	binary.LittleEndian.PutUint64(b[8:], a.rng.Uint64())
	return hex.EncodeToString(b[:n])
}

func (a *allocation) uuid() string {
	h := a.hex(16)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-" + h[16:20] + "-" + h[20:]
}
