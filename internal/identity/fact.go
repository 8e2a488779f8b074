package identity

import (
	"errors"
	"math"
)

// Open ends of an interval, in Unix nanoseconds.
const (
	Always  int64 = math.MinInt64 // from: as far back as one looks
	Forever int64 = math.MaxInt64 // to: not closed yet
)

// FactType says how a fact binds its subject to its object.
type FactType uint8

// The types of facts.
const (
	// Bind: subject belonged to object during [From, To). An explicit statement.
	Bind FactType = iota + 1
	// Opened: an assignment of subject to object began at From.
	Opened
	// Closed: an assignment of subject to object ended at From.
	Closed
	// Lost: the object (a node instance) stopped answering at From; it may be opened again.
	Lost
	// Seen: one record carried both; says nothing about time.
	Seen
)

var factNames = [...]string{"", "bind", "open", "close", "lost", "seen"}

// String is the name under which the links table keeps the type.
func (t FactType) String() string { return factNames[t] }

// ParseFactType reads what String wrote; 0 for anything else.
func ParseFactType(name string) FactType {
	for i := 1; i < len(factNames); i++ {
		if factNames[i] == name {
			return FactType(i)
		}
	}
	return 0
}

// Fact is one thing known about who belonged to whom. Times are Unix nanoseconds; From and To of a
// Bind may be Always and Forever; Opened, Closed and Lost use From alone; Seen uses neither.
type Fact struct {
	Type     FactType
	Subject  Key
	Object   Key
	From, To int64
}

// Reasons for which a fact is refused. Each is counted under its own name.
var (
	ErrID       = errors.New("identifier is empty, longer than 512 bytes or holds control characters")
	ErrKind     = errors.New("these two kinds do not bind")
	ErrInterval = errors.New("valid_to does not lie after valid_from")
	ErrSelf     = errors.New("a subject cannot belong to itself")
)

// Check says why a fact cannot be one, nil if it can.
func (f Fact) Check() error {
	switch {
	case !ValidID(f.Subject.ID) || !ValidID(f.Object.ID):
		return ErrID
	case f.Subject == f.Object:
		return ErrSelf
	case !binds(f.Subject.Kind, f.Object.Kind):
		return ErrKind
	case f.Type == Bind && f.To <= f.From:
		return ErrInterval
	case f.Type == 0 || int(f.Type) >= len(factNames):
		return ErrKind
	}
	return nil
}

// binds says which kinds may belong to which: anything below an allocation to it, or to another key
// that leads there; what lives on a machine to an installation or a machine.
func binds(subject, object Kind) bool {
	switch {
	case subject == NoKind || object == NoKind || subject >= kinds || object >= kinds:
		return false
	case subject == Allocation:
		return false
	case subject == Node:
		return object == Allocation || object == NodeInstance
	case subject == NodeInstance:
		return object == Node || object == Allocation
	case subject == Boot:
		return object == NodeInstance || object == Node
	}
	return object != Boot // immovable kinds: to an allocation, each other, an installation or a machine
}
