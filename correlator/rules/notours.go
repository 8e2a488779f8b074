package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// notOurs says whether every dial that was not answered went to one party of which nothing is ever heard, and nobody else tells of the way there: a party
// that is down and a way that loses what is sent look alike to who dials (RFC 9293, 3.10.7).
func notOurs(c *correlator.Case, t *correlator.Trouble, dials []*correlator.Event) bool {
	called := ""
	for _, e := range dials {
		if e.Party() == semconv.LayerClient {
			continue
		}
		whom := callee(c, e)
		if whom == "" || called != "" && whom != called || e.Party() == semconv.LayerNetwork {
			return false
		}
		called = whom
	}
	if called == "" || called == semconv.LayerNetwork || c.AliveBetween(called, t.From-int64(changed), t.At+recently) != nil {
		return false
	}
	return c.AliveBetween(semconv.LayerNetwork, t.From-recently, t.At+recently) == nil
}

// unseen says whether a client alone tells of a dial that nobody answered, and nobody is heard at whose door it was: what became of it on the way,
// or there, stands nowhere.
func unseen(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	return !slices.ContainsFunc(records, func(e *correlator.Event) bool { return e.Layer != semconv.LayerClient }) &&
		c.AliveBetween(semconv.LayerIngress, t.From, t.At+recently) == nil && c.AliveBetween(semconv.LayerAPI, t.From, t.At+recently) == nil
}

// unheardCallee says whether the platform's own dials to a service that is called by a name were not answered, and neither that service nor the network is heard
// of meanwhile: it may hang as well as the way to it may drop packets.
func unheardCallee(c *correlator.Case, t *correlator.Trouble, dials []*correlator.Event) bool {
	name := ""
	for _, e := range dials {
		host, _, _ := strings.Cut(e.Attr(semconv.ServerAddress), ".")
		if e.Party() != semconv.LayerWorkflow && e.Party() != semconv.LayerProvider || len(host) < 4 || strings.Trim(host, digits) == "" || name != "" && host != name {
			return false
		}
		name = host
	}
	heard := false
	c.Each(t.From-moment, t.At+recently, func(e *correlator.Event) {
		heard = heard || (closeTo(t, e) || correlator.EveryReaderHas(e)) && (e.Party() == semconv.LayerNetwork || e.Party() == semconv.LayerNode || strings.Contains(strings.ToLower(e.Service), name))
	})
	return name != "" && !heard
}

// tooBusy says whether who was dialled tells of a limit of its own, or that it stands in its own way: nobody lost packets.
func tooBusy(c *correlator.Case, told *words, dials []*correlator.Event) bool {
	called := ""
	for _, e := range dials {
		if called = callee(c, e); called == "" && e.Party() == semconv.LayerIngress {
			called = semconv.LayerAPI
		} else if called == "" && (e.Party() == semconv.LayerNodeAgent || e.Party() == semconv.LayerClient) {
			called = semconv.LayerIngress // whoever comes from outside dials the proxy
		}
	}
	return called != "" && slices.ContainsFunc(told.all(), func(e *correlator.Event) bool {
		s := hinted(e)
		return e.Party() == called && (s.Mechanism == "limit" || s.Mechanism == "stuck" || s.Mechanism == "leak")
	})
}

// answeredByAnother says whether whoever showed a certificate for another name was somebody else than who was dialled: two machines answer for one address,
// or who watches the certificate that belongs there sees it with its own name.
func answeredByAnother(c *correlator.Case, told *words, complaints []*correlator.Event) bool {
	for _, e := range told.all() {
		if hinted(e) != nil && hinted(e).ID == "network.address_conflict" {
			return true
		}
	}
	for _, e := range complaints {
		_, wanted, found := strings.Cut(e.Text, ", not ")
		if !found {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(wanted), " ")
		if len(name) < longName {
			continue
		}
		seen := false
		c.EachIn(semconv.LayerCert, e.At-recently, e.At+recently, func(o *correlator.Event) {
			named := strings.Contains(o.Text, "dnsnames=["+name) || slices.Contains(strings.FieldsFunc(o.Text, func(r rune) bool { return strings.ContainsRune(" []=,;\"", r) }), "dns:"+name)
			seen = seen || !o.IsEvent() && o.Severity < 13 && named
		})
		if seen {
			return true
		}
	}
	return false
}
