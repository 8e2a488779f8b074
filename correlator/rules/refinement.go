package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// refined is what a signature's words mean beside what else is on record: nothing, where that speaks against them, or another owner's matter. told
// are the trouble's words, ev what the signature found by itself.
func (s *signature) refined(c *correlator.Case, t *correlator.Trouble, told *words, ev correlator.Evidence) []correlator.Evidence {
	switch s.ID {
	case "cert.expired", "cert.expired_word", "cert.expired_local":
		return clockOrExpiry(ev)
	case "node.memory":
		if ev.Layer == semconv.LayerNode && slices.ContainsFunc(told.all(), ofOwnLimit) {
			return nil // the machine has memory: a process came to the limit that it was given
		}
		if ev.Layer != semconv.LayerNode {
			ev.Summary = "a process came to the limit of its own memory, and was killed" + quote(witness(ev.Records))
			ev.NextCheck, ev.SafeAction = "its memory limit, and what it held", "raise the limit or mend the leak; the machine has memory"
		}
	case "deploy.no_worker":
		if born := bornBroken(c, crashed(told, ev)); born.Mechanism == "broken" {
			return []correlator.Evidence{born}
		}
		if slices.ContainsFunc(told.all(), stoppedByItself) && !slices.ContainsFunc(told.all(), func(e *correlator.Event) bool {
			return hinted(e).ID == "deploy.prerequisite" && e.Party() == semconv.LayerWorkflow
		}) {
			ev.Rule, ev.Layer, ev.Mechanism = "workflow.no_worker", semconv.LayerWorkflow, "no_worker"
		}
		if slices.ContainsFunc(told.all(), keptFromQueue) {
			return nil // a worker is there, and does not get to the queue
		}
		if full := slotsGone(c, t); full != nil {
			ev.Rule, ev.Layer, ev.Mechanism, ev.Directness = "workflow.slots", semconv.LayerWorkflow, "stuck", correlator.Itself
			ev.Records, ev.Summary = append(ev.Records, full), "a worker is there, and none of its slots is free"+quote(full)
			ev.NextCheck, ev.SafeAction = "what the worker's slots wait for", "end what holds them; the queue and its orders need nothing"
			slices.SortStableFunc(ev.Records, correlator.CompareEvents)
		}
		ev = stoppedInPlace(c, t, ev)
	case "node.disk_full":
		if t.Kind == correlator.RequestTrouble && !slices.ContainsFunc(told.all(), func(e *correlator.Event) bool {
			return hinted(e) != nil && hinted(e).ID == ev.Rule && (e.Party() != "" || e.Node != "")
		}) {
			return nil // somebody beside the platform, who is on no request's way
		}
		ev = ofOwnStorage(ev)
	case "network.no_route":
		if slices.ContainsFunc(told.all(), func(e *correlator.Event) bool { return hinted(e).ID == "node.routes" }) {
			return nil // the machine threw its routes away itself
		}
		if gone := asksFormerAddress(c, t); len(gone) > 0 && !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool {
			return e.Layer != semconv.LayerClient && !slices.Contains(gone[0].Records, e)
		}) {
			return nil // nobody has the address any more
		}
		if ofOwnMachine(c, ev.Records) || ofOwnLink(c, ev.Records) {
			return nil
		}
		return unreachedSinceOff(c, t, ev)
	case "node.nic_down":
		if cameBack(c, t, ev.Records) || farEndAccuses(c, ev.Records) || atOnce(c, t, s, ev.Records) || switchFailed(c, ev.Records) {
			return nil
		}
	case "api_auth.rbac":
		if restored(c, t, ev.Records) {
			return nil // a rollout took the role away
		}
		ev = ofItsAccount(c, ev)
	case "network.resolver_port":
		if notAskedFor(c, t, ev.Records) {
			return nil
		}
	case "client.user_data":
		if ev = madeByOthers(c, t, ev); ev.Layer != semconv.LayerClient {
			return []correlator.Evidence{ev}
		}
		if sentNone(c) {
			return nil
		}
		ev = byRollout(c, ev, "user_data", "user-data", "user_data", "userdata", "vendor-data", "cloud-init", "cloud-config", "ignition")
	case "provider.boot_image", "provider.boot_file":
		ev = byRollout(c, ev, "image", "image", "boot")
	case "api_auth.admission":
		ev = byRollout(c, ev, "policy", append([]string{"kyverno", "gatekeeper", "admission", "constraint"}, decidedBy...)...)
	case "provider.bmc":
		ev = ofTheirNet(c, t, s, ev)
	case "db.lock", "db.slow":
		if ev.Beside && apartFromIt(c, t, s, ev.Records) {
			return nil
		}
	case "db.privilege":
		ev.Mechanism = s.Mechanism
		ev = byRollout(c, ev, "migration", "migration", "schema", "grant", "database")
	case "db.role", "db.not_primary":
		if gaveUpFor(c, t, semconv.LayerDB) {
			return nil
		}
		ev = heldToFormer(c, t, ev)
	case "ingress.no_server":
		refused := func(e *correlator.Event) bool { return turnedDown(e) || holds(e.Text, []string{"layer4", "timeout"}) }
		if c.AliveBetween(semconv.LayerAPI, t.From-recently, t.At+recently) == nil || slices.ContainsFunc(told.beside[s], refused) {
			return nil // the back end is not there, by the balancer's word, or nobody knows
		}
	case "process.panic":
		if ev.Beside && ofOtherRequest(c, t, ev.Records[0]) {
			return nil
		}
	case "api_auth.credential":
		if ev.Beside && ofOtherClient(c, t, ev.Records) {
			return nil
		}
		ev = ofOwnClock(c, ev)
		if slices.ContainsFunc(told.all(), func(e *correlator.Event) bool { return hinted(e).ID == "node.clock_refused" }) {
			return nil // it was refused for its time
		}
	case "api_auth.key_rejected":
		if slices.ContainsFunc(told.all(), func(e *correlator.Event) bool { return hinted(e).ID == "client.user_data" }) {
			return nil // the key was to come with what cannot be read
		}
	case "provider.upload":
		if unaddressed(c, t, ev.Records) {
			return nil // it looked for a system on its disks since it had no address to boot from
		}
		if !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return !holds(e.Text, tooLate) && !brokenOff.Any(e.Text) }) {
			return nil // what was fetched broke off on the way
		}
		if brokeOffFetching(c, t, ev.Records) {
			return nil
		}
		ev.Mechanism = s.Mechanism
		if ev = ofNewImage(c, ev); ev.Layer == semconv.LayerProvider && witness(ev.Records).Body != "" && !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return !e.IsEvent() && !holds(e.Text, unpublished) }) && metAgain(c, t, ev.Records) {
			ev.Rule, ev.Layer, ev.Mechanism, ev.Certain = "deploy.image", semconv.LayerDeploy, "image", false
			ev.Summary = "the image that is asked for is not there, or is another one than was published" + quote(witness(ev.Records))
			ev.NextCheck, ev.SafeAction = "what was published of that image, and its checksum", "publish the image and its checksum anew; the provider and the machine need nothing"
		}
	case "node.hang":
		if ofRemoteStorage(c, ev.Records) {
			return nil
		}
		if !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.IsEvent() || !ofOtherProgram(e) }) && slices.ContainsFunc(told.all(), func(e *correlator.Event) bool {
			return e.Party() == semconv.LayerNodeAgent && hinted(e).Mechanism == "stuck"
		}) {
			return nil // one of its programs waits, and the agent tells of a wait of its own
		}
	case "node.boot":
		if portIsDown(c, t, ev.Records) {
			return nil
		}
		ev.Mechanism = s.Mechanism
		ev = byRollout(c, ev, "image", "image", "template")
	case "node.firmware":
		ev.Mechanism = s.Mechanism
		ev = byRollout(c, ev, "image", "image", "profile")
	case "node.clock_refused":
		ev = byItsClock(c, t, ev)
	case "process.crash", "process.exit", "node_agent.crash":
		if deniedBefore(told, ev.Records[0]) {
			return nil // its machine did not let it run
		}
		ev = ofLessMemory(c, bornBroken(c, ofWhoIsCalledSo(c, ev)))
	case "outbox.returned":
		ev.Mechanism = s.Mechanism
		ev = byRollout(c, ev, "binding", "routing", "exchange", "amqp", "queue", "topic")
	case "network.fabric":
		ev.Records = slices.DeleteFunc(ev.Records, func(e *correlator.Event) bool { return e.At < t.From && holds(e.Text, upAgain) })
		if len(ev.Records) == 0 {
			return nil // what was over before the step began is not why it went wrong
		}
	case "deploy.driver":
		ev = upgradedItself(c, t, ev)
	case "deploy.rollout":
		ev.Records = slices.DeleteFunc(ev.Records, func(e *correlator.Event) bool { return ofStrangeApplication(c, e) })
		if len(ev.Records) == 0 {
			return nil
		}
	case "network.cni":
		ev = choosesNone(c, ev)
	case "node.hardware":
		if wentOn(c, ev.Records) {
			return nil
		}
	case "node.hugepages":
		ev.Mechanism = s.Mechanism
		ev = byRollout(c, ev, "image", "profile", "hugepage", "sysctl", "tuned") // a guest asks for them when its turn comes
	case "node.kernel":
		ev = ofLoaded(c, t, ev)
	case "ingress.limit":
		ev = byOneCaller(c, t, ev)
	case "network.timeout", "network.dial_timeout":
		if own := ofItsReset(c, ev); own != nil {
			return own
		}
		if unseen(c, t, ev.Records) || unheardCallee(c, t, ev.Records) || sentAndNotCome(c, t) || ofMachineAlone(c, t, ev.Records) || ofOneNode(c, t, ev.Records) || ofOneSide(c, t, ev.Records) || ofOwnMachine(c, ev.Records) || workedSince(c, t, ev.Records) || leftBehind(c, t, ev.Records) || tooBusy(c, told, ev.Records) || notOurs(c, t, ev.Records) {
			return nil
		}
		if both := betweenFilters(c, t, ev); both != nil {
			return both
		}
		if !attested(c, t, ev.Records) {
			return nil
		}
		ev = byWhoHadIt(c, t, droppedByPolicy(c, t, ev))
	case "node.disk", "node.storage":
		if ofRemoteStorage(c, ev.Records) || wentOn(c, ev.Records) || givenNoImage(c, t, ev.Records) {
			return nil
		}
	case "network.connect_timeout":
		if both := betweenFilters(c, t, ev); both != nil {
			return both
		}
		dials := ev.Records
		if ev = droppedByPolicy(c, t, ev); ev.Layer == semconv.LayerNetwork && !attested(c, t, dials) {
			return nil
		}
	case "network.loss":
		if farEndAccuses(c, ev.Records) || !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return !ofOneMachine(c, e) }) {
			return nil // its neighbours are reached: the machine may be silent as well as its last link
		}
	case "deploy.dns":
		ev = ofOwnProxy(ofNameServers(c, t, knownElsewhere(c, t, ev)))
	case "deploy.object":
		ev.Records = slices.DeleteFunc(ev.Records, func(e *correlator.Event) bool { return e.Party() == semconv.LayerCert }) // it is about to make it
		if len(ev.Records) == 0 {
			return nil
		}
	case "deploy.secret":
		if slices.ContainsFunc(told.all(), func(e *correlator.Event) bool { return hinted(e).ID == "cert.not_issued" }) {
			return nil // it would hold what is not issued
		}
	case "deploy.prerequisite":
		if brokenPull(c, t, ev.Records) {
			return nil
		}
	case "deploy.flag":
		if !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return !ofRequest(e) }) {
			return nil // what it does not know stands in what it was sent
		}
	case "workflow.engine":
		if !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool {
			return !strings.Contains(e.Text, "resource lock") || !unusable.Any(e.Text)
		}) {
			return nil // it lost what it holds since it could not reach who keeps it
		}
		if slices.ContainsFunc(told.all(), func(e *correlator.Event) bool { return holds(e.Text, pullWords) }) {
			return nil // it has no workers: they could not be started
		}
	case "provider.addresses":
		if own, not := ofPort(c, t, ev); not {
			return []correlator.Evidence{own}
		}
		if slices.ContainsFunc(c.Lifecycle.Nodes, func(node string) bool { return notHeardOf(c, t, node) }) {
			return nil // its own machine never asked there
		}
		if !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return !ofOtherNetwork(c, t, e) }) {
			return nil
		}
	case "provider.unschedulable":
		if placedSince(c, t, ev.Records) {
			return nil
		}
	case "provider.capacity":
		if kept := keepsChoice(c, t, ev); kept != nil {
			return kept
		}
		return ofRoom(c, t, ofPlacement(c, t, ev))
	case "provider.quota":
		if ev = ofOwnQuota(c, t, ev); ev.Layer == semconv.LayerProvider {
			ev = byRollout(c, ev, "quota", "quota")
		}
	case "db.pool":
		ev = ofHolder(c, t, ownPool(c, t, heldByLock(c, ev)))
	case "cert.unknown_ca", "cert.wrong_name":
		if s.ID == "cert.wrong_name" && answeredByAnother(c, told, ev.Records) {
			return nil
		}
		ev.Mechanism = s.Mechanism
		if own := ofOwnTrust(c, t, s, ev); own.Layer != ev.Layer {
			return []correlator.Evidence{own}
		}
		if own := ofOwnLoopback(ev); own.Layer != ev.Layer {
			return []correlator.Evidence{own}
		}
		ev = byRollout(c, ev, "cert", "cert", "-ca", "/ca", "ca-", "tls", "trust", "pki")
	case "workflow.nondeterminism":
		ev.Mechanism = s.Mechanism
		ev = byRollout(c, ev, "code", "worker", "provisioner", "operator", "workflow", "temporal")
	}
	return []correlator.Evidence{ev}
}

// ofOneMachine says whether a probe tells that it reaches a machine's neighbours, and not the machine, which is the allocation's.
func ofOneMachine(c *correlator.Case, e *correlator.Event) bool {
	return e.IsEvent() || e.Party() == semconv.LayerNetwork && (holds(e.Text, []string{" 0% loss", "loss 0%"}) || totalLoss.MatchString(e.Text) && !probedSize.MatchString(e.Text)) &&
		slices.ContainsFunc(c.Lifecycle.Nodes, func(node string) bool { return correlator.Names(e, node) })
}

// totalLoss finds that nothing of what was sent to one host came back: it may be as silent as its way is broken.
var totalLoss = regexp.MustCompile(`\b100% (?:packet )?loss|\bloss[=: ]+100%`)

// ofRequest says whether an API tells that it does not understand what it was sent.
func ofRequest(e *correlator.Event) bool {
	if e.Layer == semconv.LayerClient && (e.HTTP.Status == 400 || strings.Contains(e.Text, "bad request") || strings.Contains(e.Text, ": 400 ")) {
		return true // so does its caller
	}
	return e.Layer == semconv.LayerAPI && (slices.Contains(callersFault, e.HTTP.Status) || strings.HasPrefix(e.Text, "400 ") || strings.Contains(e.Text, "validation failed"))
}

// triedOthers are the words of a scheduler whose hosts failed one after the other (Nova).
var triedOthers = []string{"exhausted all hosts", "exceeded maximum number of retries", "maxretriesexceeded", "rescheduling", "re-scheduled"}

// ofOwnQuota hands a quota of which no provider speaks over to the API, which refused by its own count.
func ofOwnQuota(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	if slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.Layer != semconv.LayerAPI && e.Layer != semconv.LayerClient }) || t.Kind == correlator.JobTrouble {
		return ev
	}
	if !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.Layer == semconv.LayerAPI }) || c.AliveBetween(semconv.LayerProvider, t.From, t.At) != nil {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Weight, ev.Certain, ev.Directness = "api.quota", semconv.LayerAPI, "quota", correlator.Generic, false, correlator.Itself
	ev.Summary = "the API refused by its own count of a quota" + quote(witness(ev.Records))
	ev.NextCheck, ev.SafeAction = "what the API counts, beside what is in use", "correct the count, or raise the quota"
	return ev
}

// linkUp are the words of a kernel whose link is there again.
var linkUp = []string{"link is up", "link up", "link becomes ready", "gained carrier", "carrier acquired", "link-up"}

// cameBack says whether a link that went down was up again long before a step came to its end, and stayed so.
func cameBack(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	last := records[len(records)-1]
	var up *correlator.Event
	c.Each(last.At, t.At, func(e *correlator.Event) {
		if up == nil && !e.IsEvent() && e.Service == last.Service && e.Node == last.Node && holds(e.Text, linkUp) {
			up = e
		}
	})
	return up != nil && t.At-up.At > int64(2*time.Minute) && up.At-last.At < int64(2*time.Minute)
}

// apartFromIt says whether none of what a database tells of locks lies close to a time at which the allocation's own calls failed: a deadlock is over at
// once, and a wait for a lock within its time-out (InnoDB's is 50 s). A statement that was too slow is its caller's matter alone: where a run or a task
// failed and no call of its own did, it was another one's.
func apartFromIt(c *correlator.Case, t *correlator.Trouble, s *signature, records []*correlator.Event) bool {
	const atIt = int64(time.Minute)
	failed := false
	for _, own := range c.Failures(t) {
		if own.IsEvent() || !c.Own(own, t) {
			continue
		}
		failed = true
		if slices.ContainsFunc(records, func(e *correlator.Event) bool { return max(own.At, e.At)-min(own.At, e.At) <= atIt }) {
			return false
		}
	}
	return failed || s.ID == "db.slow" && (t.Kind == correlator.WorkflowTrouble || t.Kind == correlator.TaskTrouble)
}

// restored says whether all of what was complained of began with a rollout of who complains and ended with its undoing.
func restored(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	return slices.ContainsFunc(brokenBy(c, t), func(by correlator.Evidence) bool {
		return by.Certain && by.Directness == correlator.Itself && !slices.ContainsFunc(records, func(e *correlator.Event) bool { return !slices.Contains(by.Records, e) })
	})
}

// What a worker says as it begins, and stops, to take from its queue (Temporal's SDKs, Celery, River).
var (
	workerStopped = []string{"stopped worker", "worker stopped", "worker has stopped", "stopped polling", "shutting down worker"}
	workerStarted = []string{"started worker", "worker started", "polling started"}
)
