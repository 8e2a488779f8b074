package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// ofNameServers hands a name that does not resolve over to the network, where its own probes or servers complain of that very name.
func ofNameServers(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	names := map[string]bool{}
	for _, e := range ev.Records {
		for _, name := range append(hostNames.FindAllString(e.Text, 8), strings.ToLower(e.Attr(semconv.ServerAddress))) {
			names[name] = strings.Count(name, ".") > 1
		}
	}
	var told []*correlator.Event
	for _, e := range c.Beside(t, telling) {
		if e.Party() != semconv.LayerNetwork || !e.Failed() || holds(e.Text, ofServices) {
			continue
		}
		if names[strings.ToLower(e.Attr(semconv.ServerAddress))] || slices.ContainsFunc(hostNames.FindAllString(e.Text, 8), func(name string) bool { return names[name] }) {
			told = append(told, e)
		}
	}
	if len(told) == 0 {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Weight, ev.Directness, ev.Onset = "network.dns", semconv.LayerNetwork, "dns", correlator.Specific, correlator.Itself, min(ev.Onset, told[0].At)
	ev.Records = append(told[:min(len(told), ownWords)], ev.Records...)
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Summary = "the network's own word of a name that does not resolve" + quote(told[0])
	ev.NextCheck, ev.SafeAction = "what the name servers hold of that name, and who wrote it last", "restore the record; its users need nothing"
	return ev
}

// answersWith finds a probe's word on what one name server answered, and whether it has an address for the name.
var answersWith = regexp.MustCompile(`\bserver=(\S+).*\brcode=(noerror|nxdomain|servfail)(?: answers=(\d+))?`)

// knownElsewhere hands a name that does not resolve over to the network, where one name server knows it meanwhile and another does not, by the word of
// whoever asked both.
func knownElsewhere(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	var names []string
	for _, e := range ev.Records {
		names = append(names, hostNames.FindAllString(e.Text, 8)...)
	}
	var knows, knowsNot *correlator.Event
	c.Each(t.From-recently, t.At+moment, func(e *correlator.Event) {
		if e.IsEvent() || !strings.Contains(e.Text, "rcode=") || !closeTo(t, e) && !correlator.EveryReaderHas(e) || !slices.ContainsFunc(hostNames.FindAllString(e.Text, 8), func(name string) bool { return strings.Count(name, ".") > 1 && slices.Contains(names, name) }) {
			return
		}
		switch m := answersWith.FindStringSubmatch(e.Text); {
		case m == nil:
		case m[2] == "noerror" && m[3] != "" && m[3] != "0":
			knows = e
		default:
			knowsNot = e
		}
	})
	if knows == nil || knowsNot == nil {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Weight, ev.Directness, ev.Certain = "network.resolver", semconv.LayerNetwork, "dns", correlator.Telling, correlator.Itself, true
	ev.Records = append([]*correlator.Event{knowsNot, knows}, ev.Records...)
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Summary = "one name server knows the name and another does not" + quote(knowsNot)
	ev.NextCheck, ev.SafeAction = "what keeps that name server from what the other one knows", "take it out of use or start it again; the name and what stands behind it need nothing"
	return ev
}

// notAskedFor says whether name servers are told of for names alone that nobody asked for whom the step concerns.
func notAskedFor(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	var names []string
	for _, e := range records {
		if c.Own(e, t) {
			return false
		}
		for _, name := range hostNames.FindAllString(e.Text, 8) {
			if strings.ContainsFunc(name, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
				names = append(names, name)
			}
		}
	}
	told := func(e *correlator.Event) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(e.Text, name) })
	}
	return len(names) > 0 && !slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool { return !slices.Contains(records, e) && told(e) }) &&
		!slices.ContainsFunc(c.Events, told)
}

// hostNames find the names of hosts in a text, of three labels or more.
var hostNames = regexp.MustCompile(`[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+){2,}`)

// ofOwnProxy makes a name that does not resolve the client's own matter where it is the proxy's that its environment tells it to use.
func ofOwnProxy(ev correlator.Evidence) correlator.Evidence {
	if slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.Layer != semconv.LayerClient || !holds(e.Text, ownProxy) }) {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism = "client.proxy", semconv.LayerClient, "request"
	ev.Summary = "the proxy that the caller is told to use does not resolve" + quote(witness(ev.Records))
	ev.NextCheck, ev.SafeAction = "the caller's proxy settings", "correct them; nothing reached the platform"
	return ev
}

// ownProxy are the words of a client that goes by a proxy of its own (Go, Python, curl, Node.js).
var ownProxy = []string{"proxyconnect", "proxyerror", "cannot connect to proxy", "err_proxy_connection_failed", "could not resolve proxy", "tunneling socket could not"}
