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

// LinkType says how a link binds its subject to its object.
type LinkType uint8

// The types of links.
const (
	// Bind: subject belonged to object during [From, To). An explicit statement.
	Bind LinkType = iota + 1
	// Opened: an assignment of subject to object began at From.
	Opened
	// Closed: an assignment of subject to object ended at From.
	Closed
	// Lost: the object (a node instance) stopped answering at From; it may be opened again.
	Lost
	// Seen: one record carried both; says nothing about time.
	Seen
)

var linkNames = [...]string{"", "bind", "open", "close", "lost", "seen"}

// String is the name under which the links table keeps the type.
func (t LinkType) String() string { return linkNames[t] }

// ParseLinkType reads what String wrote; 0 for anything else.
func ParseLinkType(name string) LinkType {
	for i := 1; i < len(linkNames); i++ {
		if linkNames[i] == name {
			return LinkType(i)
		}
	}
	return 0
}

// Link is one thing known about who belonged to whom. Times are Unix nanoseconds; From and To of a
// Bind may be Always and Forever; Opened, Closed and Lost use From alone; Seen uses neither.
type Link struct {
	Type     LinkType
	Subject  Key
	Object   Key
	From, To int64
}

// Reasons for which a link is refused. Each is counted under its own name.
var (
	ErrID       = errors.New("identifier is empty, longer than 512 bytes or holds control characters")
	ErrKind     = errors.New("these two kinds do not bind")
	ErrInterval = errors.New("valid_to does not lie after valid_from")
	ErrSelf     = errors.New("a subject cannot belong to itself")
)

// Reason is a word for why a link was refused, few enough to be a label: of what is none of the errors above a time was at fault.
func Reason(err error) string {
	switch {
	case errors.Is(err, ErrID):
		return "id"
	case errors.Is(err, ErrKind):
		return "kind"
	case errors.Is(err, ErrInterval):
		return "interval"
	case errors.Is(err, ErrSelf):
		return "self"
	}
	return "time"
}

// Check says why a link cannot be one, nil if it can.
func (f Link) Check() error {
	switch {
	case !ValidID(f.Subject.ID) || !ValidID(f.Object.ID):
		return ErrID
	case f.Subject == f.Object:
		return ErrSelf
	case !binds(f.Subject.Kind, f.Object.Kind):
		return ErrKind
	case f.Type == Bind && f.To <= f.From:
		return ErrInterval
	case f.Type == 0 || int(f.Type) >= len(linkNames):
		return ErrKind
	}
	return nil
}

// binds says which kinds may belong to which: anything below an allocation to it, or to another key
// that leads there; what lives on a node to a node instance or a node.
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
	place := object == NodeInstance || object == Node
	return subject.Immovable() && (object == Allocation || object.Immovable() || place)
}
