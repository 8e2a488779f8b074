package storebench

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Shape is what telemetry is made of. The same shape gives the same records, to the byte.
type Shape struct {
	Seed uint64
	// Rows is about how many records there are; the number of allocations follows.
	Rows int
	// Start is the stamped time of the first record.
	Start time.Time
}

// Of an allocation's records, and of the records of all.
const (
	rowsPerAllocation = 100  // the mean; single ones have from 50 to 500
	nodeShare         = 0.6  // lines of the node: kernel, host, agent
	lateShare         = 0.01 // come minutes to two days after they were stamped
	burstShare        = 0.3  // of the allocations are asked for twenty at a time
	burstSize         = 20
	allocationsANode  = 20 // that a node serves one after the other, about
)

// Span is the time from the first record to the last. Up to ten million records, as many are given off in a
// second; beyond that the platform is larger, not older.
func (s Shape) Span() time.Duration {
	const full = 12 * 24 * time.Hour
	return time.Duration(float64(full) * min(1, float64(s.Rows)/10e6))
}

// Allocations is how many allocations the records tell of.
func (s Shape) Allocations() int { return max(1, s.Rows/rowsPerAllocation) }

// emission is one record to come: when it is stamped, and which step gives it off.
type emission struct {
	at   int64 // Unix nanoseconds
	step step
	call uint16 // which of the allocation's requests it belongs to
}

// step says what kind of record an emission becomes; steps.go knows each.
type step uint8

const (
	stepRequest step = iota // ingress line, nothing known yet but the request
	stepAPI
	stepAuth
	stepQuery
	stepState
	stepOutbox
	stepWorkflow
	stepSpan
	stepJob
	stepPoll
	stepProjection
	stepAssigned
	stepInstance
	stepUnassigned
	stepBoot // of the node
	stepKernel
	stepAgent
	stepHost
	stepCleanup // the node after the allocation: nobody's
	steps
)

// allocation is one tenant's capacity from request to release.
type allocation struct {
	number             int
	rng                *rand.Rand
	id                 string
	workflow           [2]string // provision, release
	correlation, trace [2]string
	calls              []string // its requests; the first asked for it
	node               string
	instance           string
	boot               string
	start, end         int64
	tenant             int
	task               int // serial number
	pending            []emission
}

// begins gives the times at which allocations are asked for, in order: most one by one, some in bursts.
func (s Shape) begins() []int64 {
	rng := rand.New(rand.NewPCG(s.Seed, math.MaxUint64))
	n := s.Allocations()
	out := make([]int64, 0, n)
	for len(out) < n {
		at := s.Start.UnixNano() + int64(rng.Float64()*0.97*float64(s.Span()))
		count := 1
		if rng.Float64() < burstShare/burstSize {
			count = burstSize
		}
		for range min(count, n-len(out)) {
			out = append(out, at+rng.Int64N(int64(30*time.Second)))
		}
	}
	slices.Sort(out)
	return out
}

// life draws how long an allocation is held: half of them less than six hours, one in ten more than two days.
func life(rng *rand.Rand) time.Duration {
	hours := 6 * math.Exp(1.6*rng.NormFloat64())
	return time.Duration(min(max(hours, 0.2), 240) * float64(time.Hour))
}

// provisioning is what the platform does for an allocation.
var provisioning = []step{
	stepWorkflow, stepWorkflow, stepSpan, stepSpan, stepSpan, stepSpan, stepJob, stepPoll, stepOutbox, stepState, stepProjection,
}

// plan draws when an allocation's records are stamped: a burst while it is provisioned, one while it is
// released, and node lines in clusters over all of its life.
func (a *allocation) plan(last int64) {
	rng := a.rng
	count := 50 + min(int(rng.ExpFloat64()*(rowsPerAllocation-50)), 450)
	a.end = min(a.start+int64(life(rng)), last-int64(10*time.Minute))
	a.end = max(a.end, a.start+int64(10*time.Minute))
	provisioned := a.start + int64(time.Duration(120+rng.IntN(480))*time.Second)
	node := int(nodeShare * float64(count))
	control := count - node
	add := func(at int64, s step) { a.pending = append(a.pending, emission{at: min(at, last), step: s}) }
	within := func(from, to int64) int64 { return from + rng.Int64N(max(1, to-from)) }
	call := func(at int64) int { // one request in the words of all who serve it
		a.calls = append(a.calls, a.uuid())
		for i, s := range []step{stepRequest, stepAuth, stepAPI, stepQuery} {
			a.pending = append(a.pending, emission{min(at+int64(i)*rng.Int64N(int64(9*time.Millisecond)), last), s, uint16(len(a.calls) - 1)}) //nolint:gosec // hundreds
		}
		return 4
	}
	work := func(at int64) int {
		add(at, provisioning[rng.IntN(len(provisioning))])
		return 1
	}

	call(a.start)
	add(a.start+int64(12*time.Millisecond), stepState)
	add(a.start+int64(20*time.Second), stepAssigned)
	add(a.start+int64(50*time.Second), stepInstance)
	add(a.end, stepUnassigned)
	for done := 8; done < control; {
		switch p := rng.Float64(); {
		case p < 0.55:
			done += work(within(a.start, provisioned))
		case p < 0.75:
			done += work(within(a.end-int64(3*time.Minute), a.end))
		case p < 0.9:
			done += work(within(provisioned, a.end))
		default:
			done += call(within(a.start, a.end))
		}
	}
	lines := []step{stepKernel, stepAgent, stepHost}
	for done := 0; done < node; {
		switch p := rng.Float64(); {
		case p < 0.35:
			add(within(a.start+int64(time.Minute), provisioned), stepBoot)
			done++
		case p < 0.42:
			add(a.end+rng.Int64N(int64(5*time.Minute)), stepCleanup)
			done++
		default: // a cluster: something happened on the node
			at := within(provisioned, a.end)
			for range min(1+rng.IntN(6), node-done) {
				at += rng.Int64N(int64(2 * time.Second))
				add(at, lines[rng.IntN(len(lines))])
				done++
			}
		}
	}
	slices.SortFunc(a.pending, func(x, y emission) int {
		switch {
		case x.at < y.at:
			return -1
		case x.at > y.at:
			return 1
		}
		return int(x.step) - int(y.step)
	})
}
