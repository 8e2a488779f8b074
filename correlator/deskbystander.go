package correlator

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Stir says what records of nobody may have changed.
type Stir struct {
	Named   map[string]bool // allocations whose machines a failure or a hand names
	General bool            // a failure, a rollout or a hand that names no machine came
	Signs   bool            // anything came: a sign of life
}

// beat is one component in one minute.
type beat struct {
	service, component string
	minute             int64
}

// unowned keeps what belongs to nobody, or to nobody yet.
func (d *Desk) unowned(e *Event) {
	d.unclaimed = append(d.unclaimed, e)
	if id, _ := e.Stamped.Get(semconv.AllocationID); id != "" && d.folders[id] == nil && (d.opt.Mine == nil || d.opt.Mine(id)) {
		d.hints[id] = true
	}
	switch {
	case e.Is(semconv.EventHeartbeat):
		b := beat{e.Service, e.Attr(semconv.Component), e.At / int64(time.Minute)}
		if d.beats[b]++; d.beats[b] <= 2 {
			d.context = append(d.context, e)
		}
	case tellsOfFailure(e), e.Is(semconv.EventDeploy), e.Is(semconv.EventAudit):
		d.context = append(d.context, e)
		d.stirs(e)
	}
	d.stir.Signs = true
	if e.Node != "" {
		d.lines[e.Node] = append(d.lines[e.Node], e)
	}
}

// claim looks again at what belonged to nobody: a binding that came late may say whose it is.
func (d *Desk) claim() {
	kept := d.unclaimed[:0]
	for _, e := range d.unclaimed {
		e.Resolution = d.index.Resolve(e.Keys, e.Time, e.Observed)
		if e.Allocation == "" {
			kept = append(kept, e)
			continue
		}
		d.forgetUnowned(e)
		d.file(e)
	}
	clear(d.unclaimed[len(kept):])
	d.unclaimed = kept
}

func (d *Desk) forgetUnowned(e *Event) {
	d.context = without(d.context, e)
	if e.Node != "" {
		d.lines[e.Node] = without(d.lines[e.Node], e)
	}
}

// stirs notes which allocations a record of nobody may concern: those of the machines that it names, by its
// identifier or in its words; where it names none, anyone's.
func (d *Desk) stirs(e *Event) {
	named := false
	name := func(word string) {
		for id := range d.homes[word] {
			d.stir.Named[id], named = true, true
		}
	}
	name(strings.ToLower(firstOf(e.Node, e.Attr(semconv.HostName))))
	for _, text := range []string{e.Text, strings.ToLower(e.Attr(semconv.TLSPeerSubject))} {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) }) {
			name(word)
		}
	}
	d.stir.General = d.stir.General || !named
}

// Stirred gives what records of nobody may have changed since it was last asked.
func (d *Desk) Stirred() Stir {
	s := d.stir
	d.stir = Stir{Named: map[string]bool{}}
	return s
}

// deskMargin is how long before and after an allocation's own records others may be cited.
const deskMargin = int64(10 * time.Minute)

// around are the records of nobody that a case may cite: what anyone may, and what its machines said.
func (d *Desk) around(own []*Event) []*Event {
	from, to := own[0].At, own[0].EndAt()
	nodes := map[string]bool{}
	for _, e := range own {
		from, to = min(from, e.At), max(to, e.EndAt())
		if e.Node != "" {
			nodes[e.Node] = true
		}
	}
	from, to = from-deskMargin, max(to, d.now)+deskMargin
	seen := map[*Event]bool{}
	var out []*Event
	add := func(list []*Event) {
		for _, e := range list {
			if e.At >= from && e.At <= to && !seen[e] {
				seen[e] = true
				out = append(out, e)
			}
		}
	}
	add(d.context)
	for n := range nodes {
		add(d.lines[n])
	}
	slices.SortFunc(out, compareEvents)
	return out
}

// Hints gives the allocations that a Collector has stamped on records of which nothing here says whose they
// are: their stories would tell. Each is given once.
func (d *Desk) Hints() []string {
	out := make([]string, 0, len(d.hints))
	for id := range d.hints {
		out = append(out, id)
	}
	clear(d.hints)
	slices.Sort(out)
	return out
}
