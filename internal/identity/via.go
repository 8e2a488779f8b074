package identity

// Via says how a record was resolved to its allocation: the name of the kind that did it, "explicit"
// where the record says it itself, "context" where it is only cited, "" where it was not resolved.
type Via string

// The values of Via that are no names of kinds.
const (
	Unresolved Via = ""
	Explicit   Via = "explicit"
	Context    Via = "context"
)
