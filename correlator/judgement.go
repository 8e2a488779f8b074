package correlator

// judgement is the working state of Judge.
type judgement struct {
	c         *Case
	rules     []Rule
	v         Verdict
	causes    []cause
	open      []*Trouble // troubles that nothing explains
	contested bool
	disabled  map[string]bool
	why       *Reasoning // nil where nobody asked
}

// cause is one explanation with the troubles that it explains.
type cause struct {
	ev       Evidence
	troubles []*Trouble
	party    string
}
