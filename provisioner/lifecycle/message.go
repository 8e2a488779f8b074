package lifecycle

import (
	"github.com/faultline-io/faultline/internal/semconv"
)

// MessageFacts are what guards of outbox messages look at.
type MessageFacts struct {
	Attempts int  // to send it, since it was written or sent again
	Operator bool // an operator has decided
}

// MessageMove is one line of the table of an outbox message's states.
type MessageMove = Move[MessageFacts]

// messageMoves is the whole state machine. Nothing leads out of published: what has arrived has arrived.
var messageMoves = []MessageMove{
	{"", semconv.Pending, "written with the change that it tells of", nil},
	{semconv.Pending, semconv.Published, "arrived", nil},
	{semconv.Pending, semconv.Failed, "attempt failed", tried},
	{semconv.Pending, semconv.Dead, "last attempt failed, or skipped", tried},
	{semconv.Pending, semconv.Pending, "sent again", byOperator},
	{semconv.Failed, semconv.Published, "arrived", nil},
	{semconv.Failed, semconv.Failed, "attempt failed", tried},
	{semconv.Failed, semconv.Dead, "last attempt failed, or skipped", tried},
	{semconv.Failed, semconv.Pending, "sent again", byOperator},
	{semconv.Dead, semconv.Pending, "sent again", byOperator},
	{semconv.Dead, semconv.Published, "an attempt that was under way when it was skipped arrived", tried},
}

// MoveMessage reports whether the message may go from one state to another, nil if it may.
func MoveMessage(id, from, to string, f MessageFacts) error {
	return decide(messageMoves, OfMessage, id, from, to, f, "")
}

// Guards of messages.
var (
	tried      = guard("tried_or_operator", NotTried, func(f MessageFacts) bool { return f.Attempts > 0 || f.Operator })
	byOperator = guard("by_operator", OperatorsOnly, func(f MessageFacts) bool { return f.Operator })
)
