package correlator

import (
	"cmp"
	"slices"
	"strings"
)

// Catalog is all that can be said of a set of rules without a case: what each looks for, and how a
// choice is made between what they find.
type Catalog struct {
	RulesVersion string        `json:"rules_version"`
	Tiebreaks    []string      `json:"tiebreaks"`
	Rules        []Description `json:"rules"`
}

// Description is one rule in words. Layer and Mechanism are "" where the rule takes them from what it
// finds.
type Description struct {
	ID         string `json:"rule"`
	Layer      string `json:"layer"`
	Mechanism  string `json:"mechanism"`
	Looks      string `json:"looks_for"`
	Stands     string `json:"stands_on"` // states of handoffs
	NextCheck  string `json:"next_check"`
	SafeAction string `json:"safe_action"`
}

// judgesOwn are the causes that no rule finds: the judge names them itself, where nothing else explains.
var judgesOwn = []Description{{
	ID: "projection.stale", Layer: "projection", Mechanism: "stale",
	Looks:      "a view that lags longer than its grace while nothing else explains why (the judge's own)",
	Stands:     "answered, and not shown",
	NextCheck:  "the updater of that view: is it running, and what did it last apply?",
	SafeAction: "act on the control plane's state; replay the projection",
}}

// Describe lists rules by their ids.
func Describe(rules []Rule) Catalog {
	c := Catalog{RulesVersion: RulesVersion, Tiebreaks: []string{}, Rules: slices.Clone(judgesOwn)}
	for _, t := range Tiebreaks() {
		c.Tiebreaks = append(c.Tiebreaks, t.Name)
	}
	for _, r := range rules {
		c.Rules = append(c.Rules, Description{r.ID, r.Layer, r.Mechanism, r.Looks, r.Stands, r.NextCheck, r.SafeAction})
	}
	slices.SortFunc(c.Rules, func(a, b Description) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Looks, b.Looks))
	})
	return c
}
