package clickhouseexporter

import (
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// statedFact is a fact and the record that states it.
type statedFact struct {
	fact     identity.Fact
	service  string
	ref      string // "" of identifiers that were merely seen together: their records are found by either of them
	observed int64  // Unix nanoseconds
}

func (b *batch) addFact(f identity.Fact, r *record.Record, key string) {
	ref := ""
	if f.Type != identity.Seen {
		ref = record.Ref(key)
	}
	b.facts = append(b.facts, statedFact{fact: f, service: r.Service, ref: ref, observed: r.Observed})
}

// linkCache remembers which facts the store has, and since when they are known there to have been
// observed: a fact that turns out to have been observed earlier is written again, because a judgement
// "as of" then must find it. It is bounded; a forgotten fact is written again, which changes nothing.
// A fact counts as written only after the store has taken it, or has refused it for what it says: many
// records state the same fact, and each would cost its batch the search for it once more.
type linkCache struct {
	known *lru.Cache[identity.Fact, int64]
}

func newLinkCache(size int) *linkCache {
	known, err := lru.New[identity.Fact, int64](size)
	if err != nil {
		panic(fmt.Sprintf("link cache of %d entries: %v", size, err)) // the configuration was validated
	}
	return &linkCache{known}
}

// fresh gives those of the facts that have to be written, each once, as it was observed first.
func (c *linkCache) fresh(facts []statedFact) []statedFact {
	var out []statedFact
	at := map[identity.Fact]int{}
	for _, f := range facts {
		if seen, ok := c.known.Get(f.fact); ok && seen <= f.observed {
			continue
		}
		i, ok := at[f.fact]
		switch {
		case !ok:
			at[f.fact] = len(out)
			out = append(out, f)
		case f.observed < out[i].observed:
			out[i] = f
		}
	}
	return out
}

// written remembers facts that the store has taken.
func (c *linkCache) written(facts []statedFact) {
	for _, f := range facts {
		if seen, ok := c.known.Peek(f.fact); !ok || f.observed < seen {
			c.known.Add(f.fact, f.observed)
		}
	}
}
