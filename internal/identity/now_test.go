package identity_test

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/faultline-io/faultline/internal/identity"
)

// present is how others answer: a table of what is so now, overwritten as news comes in. A record gets
// what the table says when the record arrives, whatever its time.
type present map[string]string // node → node instance

func (p present) take(f identity.Link) {
	switch {
	case f.Subject.Kind != identity.Node || f.Object.Kind != identity.NodeInstance:
	case f.Type == identity.Opened:
		p[f.Subject.ID] = f.Object.ID
	case p[f.Subject.ID] == f.Object.ID:
		delete(p, f.Subject.ID)
	}
}

// score counts records that name only their node, by what was said of the node instance that wrote
// them.
type score struct{ right, wrong, none int }

func (s *score) add(said, truth string) {
	switch said {
	case truth:
		s.right++
	case "":
		s.none++
	default:
		s.wrong++
	}
}

// play lets the records of a schedule arrive up to late after they were observed, and asks the table at
// their arrival and the index in the end. News are on time, or early and late by three days as the
// schedule has them.
func (s schedule) play(r *rand.Rand, late int64, newsOnTime bool, now, then *score) {
	type arrival struct {
		at   int64
		link *identity.Link
		line *line
	}
	var all []arrival
	x := identity.New(identity.Options{})
	for i := range s.told {
		if t := &s.told[i]; t.seen == nil {
			at := t.arrives
			if newsOnTime {
				at = t.link.From
			}
			all = append(all, arrival{at: at, link: &t.link})
			_ = x.Add(t.link)
		}
	}
	for i := range s.lines {
		if l := &s.lines[i]; l.instance != "" && len(l.keys) == 1 && l.keys[0].Kind == identity.Node {
			all = append(all, arrival{at: l.observed + r.Int64N(late+1), line: l})
		}
	}
	slices.SortStableFunc(all, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	table := present{}
	for _, a := range all {
		if a.link != nil {
			table.take(*a.link)
			continue
		}
		now.add(table[a.line.keys[0].ID], a.line.instance)
		then.add(x.Resolve(a.line.keys, a.line.at, a.line.observed).NodeInstance, a.line.instance)
	}
}

// A look-up at "now" puts records on the wrong node instance as soon as anything is late; one at the
// record's own time puts none there.
func TestNowIsNotThen(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("FAULTLINE_SCHEDULES"))
	if err != nil {
		n = 200
	}
	for _, c := range []struct {
		name   string
		late   int64
		onTime bool
	}{
		{"news on time, records within the hour", 0, true},
		{"news on time, records up to 72 h late", 72 * hour, true},
		{"news up to 72 h early or late, records within the hour", 0, false},
		{"news and records up to 72 h late", 72 * hour, false},
	} {
		var now, then score
		for seed := range uint64(n) { //nolint:gosec // not negative
			r := rand.New(rand.NewPCG(seed, 4)) //nolint:gosec // no secret
			newSchedule(r).play(r, c.late, c.onTime, &now, &then)
		}
		t.Logf("%s: at now %d right, %d wrong, %d nothing; at the record's time %d right, %d wrong, %d nothing",
			c.name, now.right, now.wrong, now.none, then.right, then.wrong, then.none)
		if then.wrong > 0 || c.late > 0 && now.wrong == 0 {
			t.Errorf("%s: %+v, %+v", c.name, now, then)
		}
	}
}
