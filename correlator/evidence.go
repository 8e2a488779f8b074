package correlator

import (
	"time"
)

// Weight is how much a piece of evidence says by its nature.
type Weight int

// The weights. Wrappers (errors that repeat what somebody else said) have none and are never evidence.
const (
	// Slight: nothing names a cause, and of all who spoke this party speaks of itself.
	Slight Weight = iota + 1
	// Generic: a layer says that something failed in it, and not what.
	Generic
	// Telling: a sequence, an absence or a status that only this cause produces.
	Telling
	// Specific: words that name the cause itself.
	Specific
)

// Directness is how close the witness stood (docs/domain.md §4.10, rule 1).
type Directness int

// The distances, closest first.
const (
	Itself Directness = iota + 1 // the component that failed, about itself
	Caller                       // its immediate caller or peer
	Hearsay
)

// Evidence is what one rule found about one trouble: a cause, its owner and the records that prove it.
type Evidence struct {
	Rule       string
	Layer      string
	Mechanism  string
	Weight     Weight
	Directness Directness
	Records    []*Event // what proves it, in order; never empty
	Against    []*Event // what speaks against it
	Onset      int64
	Last       int64
	Summary    string
	NextCheck  string
	SafeAction string
	Certain    bool // false lowers the confidence: another reading exists
	Beside     bool // it stands on records that were said beside the trouble, under nobody's identifiers

	beside bool // it lies beside the way of the step that failed; worked out by the judge
}

// Rule looks for one cause.
type Rule struct {
	ID         string // layer.mechanism, stable for ever
	Layer      string
	Mechanism  string
	Looks      string // what it looks for, one sentence
	Stands     string // on which states of handoffs it stands: how far the order is proven to have come
	NextCheck  string
	SafeAction string
	// Words make a record worth reading that belongs to nobody and tells of no failure by its severity: systems write their
	// causes at INFO, too. In lower case; nil where the rule reads none of those.
	Words []string
	// Find gives the evidence for this cause of this trouble, nil where there is none. It must not keep
	// or change what it is given.
	Find func(c *Case, t *Trouble) []Evidence
}

// How far from a trouble a record may stand and still be its evidence. Clocks differ by seconds, not
// minutes; a node's own complaints count a little before the step that they broke.
const (
	skew     = int64(30 * time.Second)
	lookback = int64(2 * time.Minute)
	moment   = int64(5 * time.Second) // what is written in one breath
)

func (e *Evidence) confidence() string {
	switch {
	case e.Weight == Slight || e.Weight == Generic && !e.Certain:
		return Low
	case e.Weight == Specific && e.Directness <= Caller && e.Certain:
		return High
	case e.Weight == Telling && e.Directness == Itself && e.Certain:
		return High
	}
	return Medium
}
