package record

// Form is what the store keeps as a dictionary's entry (form_json): what many records of a service have in common beside their resource.
type Form struct {
	Scope        string `json:"scope,omitempty"`
	SeverityText string `json:"severity_text,omitempty"`
	Attrs        string `json:"attrs,omitempty"`   // the names of attributes that are the row's identifiers, joined by commas
	Stamped      string `json:"stamped,omitempty"` // the same of what was stamped
	Via          string `json:"via,omitempty"`
}

// Extra is what the store keeps as JSON beside a record (extra_json), what few have: what only a span says, and what was stamped and is no identifier.
type Extra struct {
	Took    int64             `json:"took,omitempty"` // from its start to its end, nanoseconds; wraps
	Parent  string            `json:"parent,omitempty"`
	Kind    string            `json:"kind,omitempty"`
	Status  string            `json:"status,omitempty"`
	Message string            `json:"message,omitempty"`
	Events  []SpanEvent       `json:"events,omitempty"`
	Stamped map[string]string `json:"stamped,omitempty"`
}
