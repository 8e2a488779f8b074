package truth

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
)

// Expected is what an engineer would say of one allocation.
type Expected struct {
	Outcome string   `json:"outcome"`
	Layers  []string `json:"layers"` // the owners
	Accept  []string `json:"accept"` // layers and outcomes that are right, too
}

// Grade is how good one answer is.
type Grade string

// The grades. Only Wrong, Missed and Alarm mislead somebody.
const (
	Right     Grade = "right"
	Wrong     Grade = "wrong"     // somebody is blamed who does not own it
	Missed    Grade = "missed"    // nothing is said to be wrong
	Abstained Grade = "abstained" // undetermined, where the records suffice
	Alarm     Grade = "alarm"     // somebody is blamed where nothing was wrong
)

// Grade compares a verdict with what is expected.
func (x Expected) Grade(v correlator.Verdict) Grade {
	if v.Outcome == correlator.Contested && x.Outcome == v.Outcome && len(x.Layers) == 0 {
		return Right // between whom is not said
	}
	foreign := slices.ContainsFunc(v.Faults, func(f correlator.Fault) bool { return !x.owns(f.Layer) })
	accepted := slices.Contains(x.Accept, v.Outcome)
	switch {
	case x.Outcome == correlator.None && len(v.Faults) > 0 && (foreign || !accepted && len(x.Accept) == 0):
		return Alarm
	case foreign && v.Outcome == correlator.Contested && accepted && x.among(v):
		return Right // who is contested holds the owner
	case foreign:
		return Wrong
	case v.Outcome == x.Outcome || accepted || len(v.Faults) > 0:
		return Right
	case v.Outcome == correlator.None:
		return Missed
	}
	return Abstained
}

// among says whether one of a verdict's faults is the owner's.
func (x Expected) among(v correlator.Verdict) bool {
	return slices.ContainsFunc(v.Faults, func(f correlator.Fault) bool { return x.owns(f.Layer) })
}

// owns says whether blaming a layer is right.
func (x Expected) owns(layer string) bool {
	return slices.Contains(x.Layers, layer) || slices.Contains(x.Accept, layer)
}

// parseExpected reads the verdict section of a scenario: `allocation ID OUTCOME`, each followed by `fault LAYER.MECHANISM` and
// `accept LAYER|OUTCOME` lines. Other lines are for other tests.
func parseExpected(lines []string) map[string]Expected {
	out := map[string]Expected{}
	id := ""
	for _, line := range lines {
		words := strings.Fields(line)
		if len(words) > 2 && words[0] == "allocation" {
			id = words[1]
			out[id] = Expected{Outcome: words[2]}
		}
		if id == "" || len(words) < 2 {
			continue
		}
		x := out[id]
		layer, _, _ := strings.Cut(words[1], ".")
		switch words[0] {
		case "fault":
			x.Layers = append(x.Layers, layer)
		case "accept":
			x.Accept = append(x.Accept, layer)
		}
		out[id] = x
	}
	return out
}
