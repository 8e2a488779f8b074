package live

import (
	"time"

	"github.com/faultline-io/faultline/internal/record"
)

// How long what was observed may be under way: senders and Collectors gather for a second each, and a busy store takes its
// time. Bounded, since a record that comes out of a queue on a disk is no reason to hold back for an hour.
const (
	leastUnderWay = time.Second
	mostUnderWay  = 10 * time.Second
)

// pace knows how long records are under way, from where they are observed to here. Of two emitters one may be seconds ahead
// of the other: that a step's result is not here shows nothing until all that was observed when its
// deadline passed has had the time to come.
type pace struct {
	late time.Duration // the longest lately
	seen []reached
	upTo int64
}

// newPace knows of nothing yet that it is here.
func newPace() *pace { return &pace{upTo: 1} }

// reached is how far the newest observed time was when somebody looked.
type reached struct {
	when     time.Time
	observed int64
}

// note takes what arrived at a look.
func (p *pace) note(now time.Time, records []*record.Record) {
	for _, r := range records {
		p.late = max(p.late, min(now.Sub(time.Unix(0, r.Observed)), mostUnderWay))
	}
}

// settled is the time until which everything that was observed is here, by how far it was observed when so long ago as
// records are under way at most.
func (p *pace) settled(now time.Time, observed int64) int64 {
	p.late = max(leastUnderWay, p.late*49/50) // half of it within 17 seconds of looks
	p.seen = append(p.seen, reached{now, observed})
	for len(p.seen) > 0 && now.Sub(p.seen[0].when) >= p.late {
		p.upTo, p.seen = p.seen[0].observed, p.seen[1:]
	}
	return p.upTo
}

// settle says until when what was observed is on the desk.
func (s *Service) settle(now time.Time) { s.settled = s.pace.settled(now, s.desk.Now()) }
