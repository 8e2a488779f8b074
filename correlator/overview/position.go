package overview

import (
	"cmp"
	"encoding/json"
	"maps"

	"github.com/faultline-io/faultline/correlator/query"
)

// position is how much of what each replica said was taken. What one replica says becomes visible in the order of place,
// since it writes one insert after the other; what several say need not.
type position struct {
	Version  int              `json:"v"`
	Floor    int64            `json:"f"` // of replicas that are not listed: all that was said until then
	Replicas map[string]place `json:"r,omitempty"`
}

// place is where one replica's word stands.
type place struct {
	Ingested int64  `json:"i"`
	ID       string `json:"a"`
	JudgedAt int64  `json:"j"`
}

func placeOf(s query.Said) place { return place{s.Ingested, s.ID, int64(s.JudgedAt)} }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.Ingested, q.Ingested), cmp.Compare(p.ID, q.ID), cmp.Compare(p.JudgedAt, q.JudgedAt))
}

const (
	positionVersion = 1
	// listed is for how long a replica that says nothing more is listed: its name is gone with it.
	listed = int64(10 * 60e9)
)

// before says whether a word lies behind the position.
func (p *position) before(s query.Said) bool {
	if at, ok := p.Replicas[s.Replica]; ok {
		return at.compare(placeOf(s)) < 0
	}
	return s.Ingested > p.Floor
}

// advance takes a word.
func (p *position) advance(s query.Said) {
	if p.Replicas == nil {
		p.Replicas = map[string]place{}
	}
	p.Replicas[s.Replica] = placeOf(s)
	p.settle(s.Ingested)
}

// settle has the floor follow, so that replicas that are gone are not listed for ever.
func (p *position) settle(now int64) {
	p.Floor = max(p.Floor, now-listed)
	for name, at := range p.Replicas {
		if at.Ingested < p.Floor {
			delete(p.Replicas, name)
		}
	}
}

func (p *position) clone() *position {
	return &position{p.Version, p.Floor, maps.Clone(p.Replicas)}
}

// cursor is the position as a reader keeps it.
func (p *position) cursor(s seal) string {
	one := *p
	one.Version = positionVersion
	text, err := json.Marshal(one)
	if err != nil {
		return "" // plain data
	}
	return s.close(text)
}

// parseCursor reads a cursor; "" is the beginning of time.
func parseCursor(cursor string, s seal) (*position, error) {
	if cursor == "" {
		return &position{}, nil
	}
	text, err := s.open(cursor)
	if err != nil {
		return nil, err
	}
	var p position
	if err := json.Unmarshal(text, &p); err != nil || p.Version != positionVersion {
		return nil, query.ErrCursor
	}
	return &p, nil
}
