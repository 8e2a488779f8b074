package correlator

// Reasoning is how a verdict came about: for every trouble, what was considered, what was dropped and why,
// and which tie-break decided. It is worked out on demand (Explain) and costs nothing otherwise.
type Reasoning struct {
	Troubles []Deliberation `json:"troubles"`
	// Handoffs are the orders of the allocation as they stand now, from the outbox inwards.
	Handoffs []HandoffState `json:"handoffs"`
}

// Deliberation is the reasoning about one trouble.
type Deliberation struct {
	Trouble string      `json:"trouble"` // what was owed and did not come, for people
	Kind    TroubleKind `json:"kind"`
	Owes    string      `json:"owes"` // the layer that owed the step, "" where that is not known
	From    Time        `json:"from"`
	At      Time        `json:"at"`
	Cites   []string    `json:"cites"` // refs of the obligation and its breach
	// Ruling is how it ended: attributed, contested, undetermined, or why it is no fault (the Ruling names).
	Ruling string `json:"ruling"`
	// Because says the ruling in words: the tie-break that decided, whose wish it was, what made it good.
	Because    string       `json:"because"`
	Considered []Considered `json:"considered"` // the winner first, then in the order of the tie-breaks, then what was dropped
}

// Rulings on a trouble beside the outcomes attributed, contested and undetermined.
const (
	RulingWished    = "wished"    // it follows from what somebody asked for
	RulingRecovered = "recovered" // a later attempt made it good, and nothing names a cause
)

// Considered is one explanation of a trouble.
type Considered struct {
	Rule       string   `json:"rule"`
	Layer      string   `json:"layer"`
	Mechanism  string   `json:"mechanism"`
	Weight     string   `json:"weight"`     // specific, telling, generic
	Directness string   `json:"directness"` // itself, caller, hearsay
	Onset      Time     `json:"onset"`
	Summary    string   `json:"summary"`
	Evidence   []string `json:"evidence"` // refs
	// Kept is true for what became (part of) a fault.
	Kept bool `json:"kept"`
	// Because is the tie-break by which it lost ("specific over general"), or why it was dropped.
	Because string `json:"because"`
}

// begin opens the deliberation on a trouble; nil where nobody asked for the reasoning.
func (r *Reasoning) begin(t *Trouble) *Deliberation {
	if r == nil {
		return nil
	}
	r.Troubles = append(r.Troubles, Deliberation{
		Trouble: t.What, Kind: t.Kind, Owes: t.Owes, From: Time(t.From), At: Time(t.At), Cites: refs(t.Cites), Considered: []Considered{},
	})
	return &r.Troubles[len(r.Troubles)-1]
}

// of is the deliberation on a trouble that was begun before, nil where nobody asked for the reasoning.
func (r *Reasoning) of(t *Trouble) *Deliberation {
	if r == nil {
		return nil
	}
	for i := range r.Troubles {
		if d := &r.Troubles[i]; d.Kind == t.Kind && d.Trouble == t.What && d.From == Time(t.From) {
			return d
		}
	}
	return nil
}

// rule closes the deliberation.
func (d *Deliberation) rule(ruling, because string) {
	if d != nil {
		d.Ruling, d.Because = ruling, because
	}
}

// drop notes an explanation that was not weighed at all.
func (d *Deliberation) drop(ev *Evidence, because string) {
	if d != nil {
		d.Considered = append(d.Considered, considered(ev, false, because))
	}
}

// weigh notes the explanations in the order of the tie-breaks, before what was dropped. kept is how many of
// the first became faults.
func (d *Deliberation) weigh(found []Evidence, kept int) {
	if d == nil || len(found) == 0 {
		return
	}
	all := make([]Considered, 0, len(found)+len(d.Considered))
	for i := range found {
		switch {
		case i < kept:
			all = append(all, considered(&found[i], true, ""))
		case found[i].Layer == found[0].Layer:
			all = append(all, considered(&found[i], true, "speaks for the same layer"))
		default:
			all = append(all, considered(&found[i], false, decidedBy(&found[0], &found[i])))
		}
	}
	d.Considered = append(all, d.Considered...)
}

// decidedBy names the tie-break that prefers a over b.
func decidedBy(a, b *Evidence) string {
	for _, tb := range Tiebreaks() {
		if tb.Compare(a, b) != 0 {
			return tb.Name
		}
	}
	return ""
}

func considered(ev *Evidence, kept bool, because string) Considered {
	return Considered{
		Rule: ev.Rule, Layer: ev.Layer, Mechanism: ev.Mechanism, Weight: ev.Weight.String(), Directness: ev.Directness.String(),
		Onset: Time(ev.Onset), Summary: ev.Summary, Evidence: refs(ev.Records), Kept: kept, Because: because,
	}
}

// String is the name of a weight.
func (w Weight) String() string {
	switch w {
	case Specific:
		return "specific"
	case Telling:
		return "telling"
	}
	return "generic"
}

// String is the name of a distance.
func (d Directness) String() string {
	switch d {
	case Itself:
		return "itself"
	case Caller:
		return "caller"
	}
	return "hearsay"
}
