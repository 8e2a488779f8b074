package lifecycle

// Kinds of things that have a lifecycle, as refusals, logs and metrics name them.
const (
	OfAllocation = "allocation"
	OfNode       = "node"
	OfInstance   = "instance"
	OfWorkflow   = "workflow"
	OfTask       = "task"
	OfMessage    = "message"
	OfJob        = "job"
)

// Move is one line of a table: a thing may go from one state to another where the guard allows it.
type Move[F any] struct {
	From, To string // From "": it does not exist yet
	Trigger  string
	Guard    *Guard[F] // nil: always
}

// Guard is a condition on a move, asked of the facts that are known when the move is about to be made.
type Guard[F any] struct {
	Name     string   // in the documentation; stable
	Refusals []Reason // what Check may answer beside Allowed
	Check    func(F) Reason
}

// decide reports whether a table has the move and its guard allows it, nil if so. detail goes into the refusal.
func decide[F any](table []Move[F], of, id, from, to string, f F, detail string) error {
	for i := range table {
		m := &table[i]
		if m.From != from || m.To != to {
			continue
		}
		if m.Guard == nil {
			return nil
		}
		if reason := m.Guard.Check(f); reason != Allowed {
			return &Refusal{Reason: reason, Of: of, Subject: of + " " + id, From: from, To: to, Detail: detail}
		}
		return nil
	}
	return &Refusal{Reason: IllegalMove, Of: of, Subject: of + " " + id, From: from, To: to}
}

// guard is one that has a single reason to refuse.
func guard[F any](name string, refusal Reason, ok func(F) bool) *Guard[F] {
	return &Guard[F]{name, []Reason{refusal}, func(f F) Reason { return unless(ok(f), refusal) }}
}

// both asks the second guard where the first one allows.
func both[F any](name string, a, b *Guard[F]) *Guard[F] {
	return &Guard[F]{name, append(append([]Reason{}, a.Refusals...), b.Refusals...), func(f F) Reason {
		if r := a.Check(f); r != Allowed {
			return r
		}
		return b.Check(f)
	}}
}

func unless(ok bool, r Reason) Reason {
	if ok {
		return Allowed
	}
	return r
}
