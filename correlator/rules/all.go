package rules

import (
	"slices"
	"sync"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/needles"
)

// All lists every rule. The order decides nothing but the order of the list: what wins is the judge's
// list of tie-breaks.
func All() []correlator.Rule { return slices.Clone(all()) }

var all = sync.OnceValue(func() []correlator.Rule {
	var out []correlator.Rule
	for _, g := range groups {
		for _, r := range g.rules() {
			if r.Stands == "" {
				r.Stands = g.stands
			}
			out = append(out, r)
		}
	}
	for i := range out {
		out[i] = withComplaint(withRival(out[i]))
	}
	return out
})

// Words are the words that make a record worth reading whatever its severity is, in lower case, sorted.
func Words() []string {
	var out []string
	for _, r := range All() {
		out = append(out, r.Words...)
	}
	return needles.Least(out)
}

// groups are the families of rules, each with the states of handoffs on which it stands.
var groups = []struct {
	rules  func() []correlator.Rule
	stands string
}{
	{signatures, "any: the party that failed, or who met it, says why"},
	{ingress, "refused by a proxy, or handed on by it and not answered"},
	{staleUpstream, "not arrived: sent to where nobody is any more"},
	{auth, "refused"},
	{ownProxies, "not arrived: failed by a proxy of the caller's own"},
	{agent, "sent and not accepted, or accepted and not answered"},
	{endedAgent, "sent and not accepted"},
	{executor, "accepted and not answered"},
	{provider, "answered with a failure"},
	{part, "answered with a failure"},
	{neverPowered, "accepted and not carried out"},
	{netboot, "answered, and asked for and answered again"},
	{dhcpDown, "asked, and not answered by who ended"},
	{byVersion, "refused, for what one version of the asker sends"},
	{eachEnd, "not arrived: each end of the link says that it is the other one"},
	{unfinished, "accepted and not answered"},
	{rateLimited, "refused, whoever asks"},
	{droppedAnswer, "answered, and the answer thrown away"},
	{lockLeft, "accepted, and waiting for what an ended run holds"},
	{unattendedQueues, "arrived in a queue, and not taken from it"},
	{notAsWanted, "accepted and not carried out"},
	{idleConnections, "accepted by a proxy, and not answered through it"},
	{refused, "not arrived: nobody listens"},
	{content, "answered with nothing in it"},
	{expiredLink, "refused"},
	{trigger, "sent to somebody else"},
	{peer, "not arrived: the other one ended"},
	{outbox, "accepted and not handed on"},
	{deduplicated, "sent, and taken for a copy"},
	{unroutable, "sent to where nobody takes it"},
	{worker, "at work and not answered"},
	{behind, "answered with a failure by who stands behind"},
	{signing, "refused"},
	{redelivered, "at work, and sent again"},
	{staleAddress, "not arrived: sent to where nobody is any more"},
	{otherQueue, "sent to where nobody takes it"},
	{wrongNode, "sent to who is not the one that it is for"},
	{missedEnd, "answered, and the answer not taken"},
	{orphan, "answered before it was done"},
	{overdue, "accepted and not answered in time"},
	{hop, "answered with a failure by one hop alone"},
	{handoff, "accepted, by the last hop that is proven to have it, and not answered"},
	{pathMTU, "not known: what was sent may not have arrived"},
	{stalled, "sent, and accepted after it was given up"},
	{slowCallee, "at work, and given up by who waited"},
	{pausedFor, "sent, and not accepted while the asked stood still"},
	{oldView, "refused, by what was decided on an old view"},
	{olderVersion, "answered, by what was true before"},
	{readBehind, "answered: it is not there, by a copy that is behind"},
	{overslept, "sent, and given up long after the asker's own limit"},
	{answer, "answered, and the answer lost or not awaited"},
	{patient, "at work, and given up by who waited"},
	{poll, "sent and not accepted, though it was asked for or no longer asked for"},
	{change, "refused or failed since a rollout, or until its undoing"},
	{tookDefault, "answered with a failure: asked for what was never meant"},
	{deniedCall, "refused, and answered by another as a failure of its own"},
	{peersSince, "failed on many since a rollout"},
	{refusedSince, "refused since a rollout"},
	{budget, "refused by what was rolled out"},
	{restarted, "not answered until one party was started again"},
	{mendedLater, "not done, until somebody mended one thing afterwards"},
	{sentElsewhere, "sent by a proxy to who refuses it, while others' are sent elsewhere"},
	{misreads, "answered, and the answer not understood"},
	{unsent, "awaited from the user's program, which sent nothing"},
	{because, "answered with a failure by who could not use the next one"},
	{rewritten, "sent by a proxy to another place than it was asked for"},
	{keptByAgent, "accepted, or waiting to be, and kept back by who is to do it"},
	{takenForAnother, "arrived, and taken for what runs already"},
	{twoAnswers, "not arrived: two answer for one address"},
	{endedHolder, "sent and not handed out, or not taken, for one that has ended"},
	{ownTimer, "at work, and waiting for a time of its own"},
	{sameLength, "handed on by a proxy, and ended by it"},
	{cutCall, "at work, and given up by the proxy that waited"},
	{saidLast, "not arrived: nobody listens"},
	{filtered, "not arrived: thrown away on the way"},
	{removedBefore, "not arrived: where it was sent to was taken away"},
	{closedConnection, "not sent: over what is closed"},
	{quotedWords, "answered with a failure, in whose words it was"},
	{changedTogether, "failed between two changes and their undoing"},
	{cutBetween, "not arrived: the way between was lost"},
	{launchedTwiceByLine, "at work, and sent again"},
	{neverSentOn, "accepted and not handed on"},
	{lostWay, "not arrived: the way to it was lost"},
	{fullCount, "accepted and not carried out"},
	{withEach, "answered with a failure by who says the same each time"},
	{testimony, "not known: who speaks of trouble in itself"},
	{quietRefusal, "sent, and turned down"},
	{view, "answered, and not shown"},
	{first, "answered with a failure by who was first"},
}
