package clickhouseexporter

import (
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// statedLink is a link and the record that states it.
type statedLink struct {
	link     identity.Link
	service  string
	ref      string // "" of identifiers that were merely seen together: their records are found by either of them
	observed int64  // Unix nanoseconds
}

func (b *batch) addLink(f identity.Link, r *record.Record, key string) {
	ref := ""
	if f.Type != identity.Seen {
		ref = record.Ref(key)
	}
	b.links = append(b.links, statedLink{link: f, service: r.Service, ref: ref, observed: r.Observed})
}

// linkCache remembers which links the store has, and since when they are known there to have been
// observed: a link that turns out to have been observed earlier is written again, because a judgement
// "as of" then must find it. It is bounded; a forgotten link is written again, which changes nothing.
// A link counts as written only after the store has taken it, or has refused it for what it says: many
// records state the same link, and each would cost its batch the search for it once more.
type linkCache struct {
	known *lru.Cache[identity.Link, int64]
}

func newLinkCache(size int) *linkCache {
	known, err := lru.New[identity.Link, int64](size)
	if err != nil {
		panic(fmt.Sprintf("link cache of %d entries: %v", size, err)) // the configuration was validated
	}
	return &linkCache{known}
}

// fresh gives those of the links that have to be written, each once, as it was observed first.
func (c *linkCache) fresh(links []statedLink) []statedLink {
	var out []statedLink
	at := map[identity.Link]int{}
	for _, f := range links {
		if seen, ok := c.known.Get(f.link); ok && seen <= f.observed {
			continue
		}
		i, ok := at[f.link]
		switch {
		case !ok:
			at[f.link] = len(out)
			out = append(out, f)
		case f.observed < out[i].observed:
			out[i] = f
		}
	}
	return out
}

// written remembers links that the store has taken.
func (c *linkCache) written(links []statedLink) {
	for _, f := range links {
		if seen, ok := c.known.Peek(f.link); !ok || f.observed < seen {
			c.known.Add(f.link, f.observed)
		}
	}
}
