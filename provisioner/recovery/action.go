package recovery

import (
	"strings"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

// Kind is what an action is done to.
type Kind string

// Kinds, as they stand in paths.
const (
	Allocations Kind = "allocations"
	Nodes       Kind = "nodes"
	Messages    Kind = "messages" // of the outbox
)

// One is a single one, for texts.
func (k Kind) One() string { return string(k[:len(k)-1]) }

// Move is what an action may do to a state. Allocations' and nodes' moves are in lifecycle's tables.
type Move struct {
	Of   Kind   `json:"of"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Action is one line of the table.
type Action struct {
	Name   string      // in paths and commands
	Audit  string      // in the audit log and in telemetry
	Of     Kind        // what it is done to
	Role   access.Role // the least that may do it
	Guards []Guard     // in the order in which they are asked
	Moves  []Move      // all it may do; nothing else is moved
	Does   string      // one sentence
	When   string      // when an operator wants it
	do     func(*work) error
}

// Actions is all there is. Every one wants an actor and a reason.
func Actions() []Action {
	return []Action{
		{
			Name: "retry-release", Audit: "retry_release", Of: Allocations, Role: access.Operator,
			Guards: []Guard{reasonGiven, noOpenWorkflow, in("release_has_failed", semconv.ReleaseFailed), nodeNotFenced},
			Moves:  []Move{{Allocations, semconv.ReleaseFailed, semconv.Releasing}},
			Does:   "Starts the release again, as a new workflow of the same allocation.",
			When:   "The cause of the failed release is mended.", do: retryRelease,
		},
		{
			Name: "force-release", Audit: "force_release", Of: Allocations, Role: access.Admin,
			Guards: []Guard{reasonGiven, noOpenWorkflow, in("allocation_to_release", semconv.ReleaseFailed, semconv.Failed, semconv.Active, semconv.Degraded)},
			Moves: []Move{
				{Allocations, semconv.ReleaseFailed, semconv.Releasing}, {Allocations, semconv.Failed, semconv.Releasing},
				{Allocations, semconv.Active, semconv.Releasing}, {Allocations, semconv.Degraded, semconv.Releasing},
				{Nodes, lifecycle.Fenced, lifecycle.Cleanup}, {Nodes, lifecycle.Occupied, lifecycle.Cleanup},
			},
			Does: "Moves the allocation back to releasing, whatever its node is kept out of use for: leftover tasks are canceled, a fence is lifted to cleanup, a new release begins. Nothing is given back without proof.",
			When: "The tenant is gone, or the node is fenced and its release must be tried again.", do: forceRelease,
		},
		{
			Name: "force-cleanup", Audit: "force_cleanup", Of: Allocations, Role: access.Admin,
			Guards: []Guard{reasonGiven, noOpenWorkflow, in("allocation_ended_badly", semconv.ReleaseFailed, semconv.Failed), noOpenWork, nodeInCleanup, verifiedAbsent},
			Moves: []Move{
				{Allocations, semconv.ReleaseFailed, semconv.Released},
				{Nodes, lifecycle.Cleanup, lifecycle.Free}, {Nodes, lifecycle.Fenced, lifecycle.Free},
			},
			Does: "Ends the allocation and frees its node on a person's word that nothing of it runs any more, and where that is written down. One that has failed stays so; its node is freed.",
			When: "No release can succeed: the node was wiped, replaced or scrapped by hand.", do: forceCleanup,
		},
		{
			Name: "cancel", Audit: "cancel", Of: Allocations, Role: access.Operator,
			Guards: []Guard{reasonGiven, in("allocation_not_active_yet", semconv.Requested, semconv.Reserved, semconv.Provisioning), reservedNotFenced},
			Moves: []Move{
				{Allocations, semconv.Requested, semconv.Canceled}, {Allocations, semconv.Reserved, semconv.Canceled},
				{Allocations, semconv.Provisioning, semconv.Canceling}, {Nodes, semconv.Reserved, lifecycle.Free},
			},
			Does: "Stops an allocation that is not active yet; what was begun is cleaned up by a workflow.",
			When: "It will not become active, or nobody wants it any more.", do: cancel,
		},
		{
			Name: "repair-projection", Audit: "repair_projection", Of: Allocations, Role: access.Operator,
			Guards: []Guard{reasonGiven},
			Does:   "Writes the allocation's view anew: its state is published again, and its provider's resource shows the newest job.",
			When:   "A view shows something else than the truth (faultline drift).", do: repairProjection,
		},
		{
			Name: "fence", Audit: "fence", Of: Nodes, Role: access.Operator,
			Guards: []Guard{reasonGiven, occupied("node_not_fenced_yet", lifecycle.Free, semconv.Reserved, lifecycle.Occupied, lifecycle.Cleanup)},
			Moves: []Move{
				{Nodes, lifecycle.Free, lifecycle.Fenced}, {Nodes, semconv.Reserved, lifecycle.Fenced},
				{Nodes, lifecycle.Occupied, lifecycle.Fenced}, {Nodes, lifecycle.Cleanup, lifecycle.Fenced},
			},
			Does: "Keeps a node out of use until somebody lifts the fence.",
			When: "The node is suspect: evidence must not be wiped, nobody may get it.", do: fence,
		},
		{
			Name: "unfence", Audit: "unfence", Of: Nodes, Role: access.Operator,
			Guards: []Guard{reasonGiven, fenced, settled, absentIfNobodys},
			Moves:  []Move{{Nodes, lifecycle.Fenced, lifecycle.Cleanup}, {Nodes, lifecycle.Fenced, lifecycle.Free}},
			Does:   "Lifts a fence. A node that an allocation still holds goes to cleanup and waits for its release; one that nobody holds is free again, on evidence.",
			When:   "What the node was fenced for is mended.", do: unfence,
		},
		{
			Name: "re-enrol", Audit: "re_enrol", Of: Nodes, Role: access.Admin,
			Guards: []Guard{reasonGiven, noClaim},
			Does:   "Issues a one-time token with which the node's agent enrols as a new node instance. When it does, the one before is superseded and what it reports is refused.",
			When:   "The node was installed anew, or its agent has lost its identity.", do: reEnrol,
		},
		{
			Name: "republish", Audit: "repair_outbox", Of: Messages, Role: access.Operator,
			Guards: []Guard{reasonGiven, notPublished, notSkipped},
			Moves:  []Move{{Messages, semconv.Dead, semconv.Pending}, {Messages, semconv.Failed, semconv.Pending}, {Messages, semconv.Pending, semconv.Pending}},
			Does:   "Has a message sent again, at once and with all its attempts before it. A message that arrived already starts nothing twice.",
			When:   "What refused the message is mended.", do: republish,
		},
		{
			Name: "skip", Audit: "skip_outbox", Of: Messages, Role: access.Admin,
			Guards: []Guard{reasonGiven, notPublished, notSkipped},
			Moves: []Move{
				{Messages, semconv.Pending, semconv.Dead}, {Messages, semconv.Failed, semconv.Dead}, {Messages, semconv.Dead, semconv.Dead},
				{Allocations, semconv.Requested, semconv.Failed}, {Allocations, semconv.Releasing, semconv.ReleaseFailed},
				{Allocations, semconv.Canceling, semconv.Releasing}, // and on, at once
				{Nodes, semconv.Reserved, lifecycle.Cleanup}, {Nodes, lifecycle.Occupied, lifecycle.Cleanup},
			},
			Does: "Gives up on a message for good. An allocation that waited for it is settled, so that it can be released or cleaned up; messages behind it go on.",
			When: "It is poison: whatever is mended, nobody will ever take it.", do: skip,
		},
	}
}

// Named finds an action.
func Named(of Kind, name string) (Action, bool) {
	for _, a := range Actions() {
		if a.Of == of && a.Name == name {
			return a, true
		}
	}
	return Action{}, false
}

// MovesText is what an action may move, in words.
func (a Action) MovesText() string {
	var all []string
	for _, m := range a.Moves {
		all = append(all, m.Of.One()+" "+m.From+" → "+m.To)
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
