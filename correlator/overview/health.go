package overview

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Health says how well an overview follows, and judging with it.
type Health struct {
	Ready bool // the first reading is done
	Whole bool // every allocation of the store is here
	// Looked is since when the store was not looked at with success; since the start before the first time.
	Looked time.Duration
	// Behind is for how long something has been waiting to be judged, and nobody has said that it is: by the store's clock.
	Behind time.Duration
	// KeepsUp says whether what is said holds for all but what arrived in the last seconds.
	KeepsUp bool
}

// Health gives the health of now.
func (o *Overview) Health() Health {
	o.mu.RLock()
	defer o.mu.RUnlock()
	h := Health{Ready: o.ready, Whole: o.whole, Looked: max(0, o.now().Sub(o.looked))}
	if o.behindSince != 0 {
		h.Behind = time.Duration(o.clock-max(o.behindSince, o.judged)) + h.Looked
	}
	h.Behind = max(0, h.Behind)
	h.KeepsUp = h.Ready && h.Behind < keepingUp
	return h
}

// waitsFor is how long the store may be away before an overview says that it waits.
const waitsFor = 15 * time.Second

// Check is an error where the overview waits for the store.
func (o *Overview) Check(context.Context) error {
	h := o.Health()
	switch {
	case h.Looked > waitsFor:
		return fmt.Errorf("waits for the store since %s", h.Looked.Round(time.Second))
	case !h.Ready:
		return errors.New("is being read")
	}
	return nil
}

// weigh notes at a look how far judging is behind what arrived.
func (o *Overview) weigh(at time.Time) {
	o.looked, o.clock = o.now(), at.UnixNano()
	switch {
	case o.newest*int64(time.Second) <= o.judged:
		o.behindSince = 0 // heads know whole seconds: what came in the same one counts as judged
	case o.behindSince == 0:
		o.behindSince = o.clock
	}
}
