package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// eachEnd knows a link of which each end says that the other one is why: both words are first-hand, and no record stands between them.
func eachEnd() []correlator.Rule {
	return []correlator.Rule{{
		ID: "link.each_end", Looks: "a machine and the switch port before it each tell that the other end of their link does not transmit, or the port tells that all is well with it",
		NextCheck:  "change the cable or the transceiver between the two ends, and read both ends' counters again",
		SafeAction: "the services at both ends need nothing",
		Find:       contradictingEnds,
	}, {
		ID: "request.each_end", Looks: "a proxy that tells it had no answer, and the called that tells it answered the very request well, long before",
		NextCheck:  "what went over the line between the two: a capture on both ends",
		SafeAction: "ask again over another proxy or another instance; change neither before the line is known",
		Find:       contradictingAccounts,
	}, {
		ID: "delivery.each_end", Looks: "somebody who tells that what he sent was acknowledged, and the receiver who tells that it never came",
		NextCheck:  "what the receiver's store and the line between the two have of that very delivery",
		SafeAction: "send it again where that is safe; what was done is done",
		Find:       contradictingDeliveries,
	}, {
		ID: "connection.each_end", Looks: "a proxy and the called who each tell that the other one ended the connection of the very request",
		NextCheck:  "who sent the first FIN or RST: a capture on both ends",
		SafeAction: "ask again; change neither before the line is known",
		Find:       contradictingHangups,
	}, {
		ID: "account.each_end", Looks: "two parties of whom one tells that something passed between them, is held or was ended, and the other one that it was not",
		NextCheck:  "what stands between the two: a capture, or the books of somebody else",
		SafeAction: "ask again; change neither before it is known which of the two is right",
		Find:       contradictingWords,
	}}
}

// Words by which a proxy tells that the called ended a connection (nginx, Envoy), and by which the called tells it of the proxy (Go, Netty, uvicorn).
var (
	calledHungUp = []string{"prematurely closed connection", "upstream_reset_before_response_started", "server closed first", "disconnect/reset before headers", "connection reset by peer) while reading response"}
	proxyHungUp  = []string{"broken pipe", "proxy closed", "closed by the proxy", "proxy nginx prematurely closed", "proxy envoy prematurely closed", "client prematurely closed", "closed by client", "peer closed", "closed the connection first", "closed first", "reset the connection", "connection reset by peer"}
)

// serverClosed are HAProxy's marks of a session that the server ended, before its answer or within it (HAProxy, 8.5).
var serverClosed = []string{" sh-- ", " sd-- "}

// contradictingHangups needs both words of one request, by its id or its trace, at first hand.
func contradictingHangups(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	by := map[string]*correlator.Event{}
	ids := func(e *correlator.Event) []string { return []string{e.TraceID, e.Own(identity.Request)} }
	for _, e := range c.Failures(t) {
		if e.Layer == semconv.LayerIngress && (holds(e.Text, calledHungUp) || flagged(e.HTTP, "UC") || e.HTTP.Status == 502 && holds(e.Text, serverClosed)) {
			for _, id := range ids(e) {
				by[id] = e
			}
		}
	}
	delete(by, "")
	if len(by) == 0 {
		return nil
	}
	each := correlator.Evidence{Mechanism: "reset", Weight: correlator.Telling, Directness: correlator.Itself, Certain: true}
	for _, e := range c.Failures(t) {
		if !correlator.Onward(semconv.LayerIngress, e.Layer) || !holds(e.Text, proxyHungUp) {
			continue
		}
		for _, id := range ids(e) {
			if proxy := by[id]; proxy != nil {
				delete(by, id)
				each.Records = append(each.Records, proxy, e)
			}
		}
	}
	if len(each.Records) == 0 || !c.Profile.Knows(each.Records[1].Layer) {
		return nil
	}
	called := each.Records[1].Layer
	each.Onset = each.Records[0].At
	slices.SortStableFunc(each.Records, correlator.CompareEvents)
	each.Records = slices.Compact(each.Records)
	proxy, party := each, each
	proxy.Rule, proxy.Layer, proxy.Disputed = "ingress.hangup", semconv.LayerIngress, called
	proxy.Summary = "the called tells that the proxy ended the connection, and the proxy the opposite" + quote(each.Records[0])
	party.Rule, party.Layer, party.Disputed = called+".hangup", called, semconv.LayerIngress
	party.Summary = "the proxy tells that the called ended the connection, and the called the opposite" + quote(each.Records[len(each.Records)-1])
	return []correlator.Evidence{proxy, party}
}

var (
	// toldArrived finds that a sender was told that what he sent has arrived.
	toldArrived = regexp.MustCompile(`\b(?:result|report|callback|webhook|hook|signal)\b.*(?:\b20[0-4]\b|"?accepted"?[:=] ?true|"?applied"?[:=] ?true|acknowledged|acked|delivered)|\b(?:delivered to and acknowledged by|puback|was acknowledged|acknowledged with|acknowledged 200)\b`)
	// neverCame finds that a receiver knows of no such delivery.
	neverCame = regexp.MustCompile(`\bresults received\b[^.]*: 0\b|\bno result (?:request|post|was posted|received|call)|\bsent no result\b|\bnever (?:delivered to this|received|posted|called|arrived)\b|\b0 (?:result )?requests (?:for|from)\b|\bnone with\b|\bno (?:such )?(?:callback|delivery|signal) (?:was )?received\b|\bnot found among issued\b`)
)

// missing are the words without which a text is not looked at for a delivery that never came.
var missing = []string{"results received", "no result ", "sent no result", "never delivered", "never received", "never posted", "never called", "never arrived", "0 result requests", "0 requests f", "none with ", "no callback", "no such callback", "no delivery", "no such delivery", "no signal ", "no such signal", "not found among issued"}

// tellsOfNothing lists the allocation's own records by which a delivery never came.
func tellsOfNothing(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		for _, e := range ownOn(c, themeNeverCame) {
			if neverCame.MatchString(e.Text) {
				out = append(out, e)
			}
		}
		return out
	}).([]*correlator.Event)
}

// contradictingDeliveries needs both accounts of one delivery of the step's own, at first hand and under its identifiers.
func contradictingDeliveries(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	known := func(e *correlator.Event) bool {
		return !e.IsEvent() && e.At >= t.From && e.At <= t.At+recently && c.Own(e, t) && c.Profile.Knows(e.Party()) && e.Party() != semconv.LayerClient && e.Party() != semconv.LayerIngress
	}
	var missed []*correlator.Event
	for _, e := range tellsOfNothing(c) {
		if known(e) {
			missed = append(missed, e)
		}
	}
	if len(missed) == 0 {
		return nil
	}
	var sent []*correlator.Event
	for _, e := range c.Events {
		if known(e) && !neverCame.MatchString(e.Text) && toldArrived.MatchString(e.Text) {
			sent = append(sent, e)
		}
	}
	for _, to := range missed {
		for _, from := range sent {
			if from.Party() != to.Party() && ownAdmission(c, to, namesIn(to)) == nil {
				return disputed(from.Party(), to.Party(), from, to)
			}
		}
	}
	return nil
}

// disputed is each of two parties as the other one's account has it.
func disputed(from, to string, sent, missed *correlator.Event) []correlator.Evidence {
	each := correlator.Evidence{Mechanism: "delivery", Weight: correlator.Generic, Directness: correlator.Itself, Onset: min(sent.At, missed.At), Records: []*correlator.Event{sent, missed}}
	slices.SortStableFunc(each.Records, correlator.CompareEvents)
	sender, receiver := each, each
	sender.Rule, sender.Layer, sender.Disputed = from+".account", from, to
	sender.Summary = to + " tells that what " + from + " sent never came, and " + from + " the opposite" + quote(missed)
	receiver.Rule, receiver.Layer, receiver.Disputed = to+".account", to, from
	receiver.Summary = from + " tells that " + to + " acknowledged what it sent, and " + to + " the opposite" + quote(sent)
	return []correlator.Evidence{sender, receiver}
}

// soundLink are the words of a probe that finds a link as it should be.
var soundLink = []string{"link clean", "0 crc", "link ok", "no loss seen"}

// declined are the words of a server that repeats a machine's: the address it was offered is in use already (RFC 2131, 3.1.5).
var declined = []string{"dhcpdecline", ": declined", "declined by client"}

// ofThoseWhoTalk says whether a capture tells what the two ends of a conversation sent: it speaks of them, and of the way between them only where something
// was lost on it.
func ofThoseWhoTalk(text string) bool {
	return captured.MatchString(text) && !lostOnTheWay.MatchString(text)
}

var (
	captured     = regexp.MustCompile(`^(?:packet )?(?:capture|tcpdump|pcap|tshark)\b`)
	lostOnTheWay = regexp.MustCompile(`\b(?:retrans\w*|los[ts]\w*|drop\w*|missing|not seen|never (?:seen|arrives?|leaves?)|unanswered|no (?:syn-?ack|answer|reply|response|offer|ack)|blackhole\w*|truncated|fragment\w*|frag needed|icmp|duplicate|spoofed|rogue)\b`)
)

// Counters of one link by its two ends: what leaves the machine without an answer, and the port that nothing comes in at.
var (
	sendsInVain  = regexp.MustCompile(`\b[1-9]\d* outgoing (?:syn|arp|frames?|packets?)\b.*\b0 (?:replies|answers|received|in)\b`)
	hearsNothing = regexp.MustCompile(`\b(?:input|rx|in) (?:packets|frames)[ =:]+\d+ \((?:unchanged|\+0)\b|\b0 (?:frames|packets) (?:in|received) since\b`)
)

// sentAndNotCome says whether a machine tells that its packets leave, and a switch, of one of its ports at which all is well, that none comes in: where they are
// lost between the two nobody knows.
func sentAndNotCome(c *correlator.Case, t *correlator.Trouble) bool {
	sent, none := false, false
	c.EachIn(semconv.LayerNode, t.From-recently, t.At+recently, func(e *correlator.Event) { sent = sent || c.Own(e, t) && sendsInVain.MatchString(e.Text) })
	if !sent {
		return false
	}
	c.EachIn(semconv.LayerNetwork, t.From-recently, t.At+recently, func(e *correlator.Event) {
		none = none || hearsNothing.MatchString(e.Text) && (correlator.EveryReaderHas(e) || closeTo(t, e))
	})
	return none
}

// soundPort are a port's words on its own end of a link: up, or tested and found whole.
var soundPort = []string{"oper-status up since", "oper state up since", "link up since", "diagnostic: internal loopback passed", "port asic test passed", "flaps 0, rx power"}

func contradictingEnds(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	nodes := c.Lifecycle.Nodes
	if t.Node != "" {
		nodes = []string{t.Node}
	}
	for _, id := range nodes {
		machine := ofLink(c, t, semconv.LayerNode, id, func(e *correlator.Event) bool {
			return e.Failed() && accusesFarEnd(e) || sendsInVain.MatchString(e.Text)
		})
		if len(machine) == 0 {
			continue
		}
		port := ofLink(c, t, semconv.LayerNetwork, id, func(e *correlator.Event) bool {
			return accusesFarEnd(e) || holds(e.Text, soundPort) || hearsNothing.MatchString(e.Text)
		})
		if len(port) == 0 {
			continue
		}
		each := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself, Onset: min(machine[0].At, port[0].At), Records: append(append([]*correlator.Event(nil), machine...), port...)}
		slices.SortStableFunc(each.Records, correlator.CompareEvents)
		node, network := each, each
		node.Rule, node.Layer, node.Mechanism, node.Disputed = "node.link", semconv.LayerNode, "nic", semconv.LayerNetwork
		node.Summary = "the switch says that the machine's end of the link is why, and the machine says the opposite" + quote(port[0])
		network.Rule, network.Layer, network.Mechanism, network.Disputed = "network.link", semconv.LayerNetwork, "link", semconv.LayerNode
		network.Summary = "the machine says that the switch's end of the link is why, and the switch says the opposite" + quote(machine[0])
		return []correlator.Evidence{node, network}
	}
	return nil
}

// ofLink are the words of one layer on a machine's link that are as is asked for.
func ofLink(c *correlator.Case, t *correlator.Trouble, layer, node string, as func(*correlator.Event) bool) []*correlator.Event {
	var out []*correlator.Event
	c.EachIn(layer, t.From, t.At, func(e *correlator.Event) {
		if !e.IsEvent() && correlator.Names(e, node) && as(e) {
			out = append(out, e)
		}
	})
	return out
}

// contradictingAccounts needs both accounts of one request, at first hand: nobody who stands between them is heard.
func contradictingAccounts(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	each := correlator.Evidence{Weight: correlator.Generic, Directness: correlator.Itself}
	called := ""
	for _, k := range callsOf(c, t) {
		if k.proxy != nil && k.done == nil && !k.failed && (k.proxy.HTTP.Status == 504 || flagged(k.proxy.HTTP, "UT")) {
			if none := deniesRequest(c, t, k.proxy); none != nil {
				called = none.Layer
				each.Records = append(each.Records, none, k.proxy)
			}
			continue
		}
		if k.proxy == nil || k.done == nil || k.failed || k.proxy.HTTP.Status != 504 && !flagged(k.proxy.HTTP, "UT") || !answeredInTime(c, t, k.proxy) || !c.Profile.Knows(k.done.Layer) {
			continue
		}
		called = k.done.Layer
		each.Records = append(each.Records, k.done, k.proxy)
	}
	if called == "" {
		return nil
	}
	slices.SortStableFunc(each.Records, correlator.CompareEvents)
	each.Records = slices.Compact(each.Records)
	each.Onset = each.Records[0].At
	proxy, party := each, each
	proxy.Rule, proxy.Layer, proxy.Mechanism, proxy.Disputed = "ingress.account", semconv.LayerIngress, "answer_lost", called
	proxy.Summary = "the called tells that it answered the request that the proxy had no answer to" + quote(each.Records[0])
	party.Rule, party.Layer, party.Mechanism, party.Disputed = called+".account", called, "answer_lost", semconv.LayerIngress
	party.Summary = "the proxy tells that it had no answer to the request that was answered by the called's word" + quote(each.Records[len(each.Records)-1])
	return []correlator.Evidence{proxy, party}
}

// deniesRequest is the called's own word that it has no such request as a proxy tells that it sent and had no answer to, nil where there is none.
func deniesRequest(c *correlator.Case, t *correlator.Trouble, proxy *correlator.Event) (none *correlator.Event) {
	id := strings.ToLower(proxy.Own(identity.Request))
	if id == "" {
		return nil
	}
	c.EachIn(semconv.LayerAPI, proxy.At-moment, t.At+recently, func(e *correlator.Event) {
		if none == nil && !e.IsEvent() && strings.Contains(e.Text, id) && holds(e.Text, []string{"none with", "no request with", "no such request", "not received", "never received"}) && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			none = e
		}
	})
	return none
}

// ofOwnLink says whether all that tells of no route is the machine's own, while its own link is down: a kernel without a link has no route (connect(2),
// ENETUNREACH), and that says nothing about the network.
func ofOwnLink(c *correlator.Case, records []*correlator.Event) bool {
	down := map[string]bool{}
	c.EachIn(semconv.LayerNode, records[0].At-recently, records[len(records)-1].At, func(e *correlator.Event) {
		if s := hinted(e); s != nil && s.ID == "node.nic_down" && e.Node != "" {
			down[e.Node] = true
		}
	})
	// Where the links of several machines are down, it is what stands before them.
	return len(down) == 1 && !slices.ContainsFunc(records, func(e *correlator.Event) bool {
		return !down[e.Node] || e.Layer != semconv.LayerNode && e.Layer != semconv.LayerNodeAgent
	})
}

// portIsDown says whether all that a machine tells is that it has no link to boot from, and a switch tells, before that, of the port of that very machine that it
// is down or closed, or no switch is heard of: then nobody knows which end of the link it is.
func portIsDown(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	if slices.ContainsFunc(records, func(e *correlator.Event) bool { return !holds(e.Text, noLink) }) {
		return false
	}
	if c.AliveBetween(semconv.LayerNetwork, t.From-recently, t.At+recently) == nil {
		return true // the other end of its link is not heard of
	}
	down := false
	c.EachIn(semconv.LayerNetwork, t.From-recently, records[len(records)-1].At, func(e *correlator.Event) {
		down = down || !e.IsEvent() && e.Failed() && correlator.Names(e, records[0].Node) && holds(e.Text, portClosed)
	})
	return down
}

// What a boot ROM says of a card without a link, and a switch of a port that it closed.
var (
	noLink     = []string{"media test failure", "pxe-e61", "media disconnected", "no link", "link down"}
	portClosed = []string{"err-disable", "errdisable", "error-disabled", "errdisabled", "administratively down", "oper down", "is down", "to down", "shutdown by"}
)
