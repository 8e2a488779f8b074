package rules

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// refused finds dials that reached a host on which nothing listens: the service is absent.
func refused() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.not_running", Layer: semconv.LayerDeploy, Mechanism: "not_running",
		Looks:      "a dial that was refused: the host is there, the service is not",
		NextCheck:  "whether the service behind that address is deployed and running",
		SafeAction: "start the service; do not restart its callers",
		Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			ev := correlator.Evidence{Weight: correlator.Generic, Directness: correlator.Caller, Certain: true}
			for _, e := range c.Failures(t) {
				// A proxy that was refused by its back end is the ingress rules' matter.
				if turnedDown(e) && e.Layer != semconv.LayerIngress && named(e) == nil && !holds(e.Text, ofProxiesAnswer) {
					ev.Records = append(ev.Records, e)
				}
			}
			own := !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.Layer != semconv.LayerClient || !ofLoopback(e) })
			own = own && len(ev.Records) > 0 && !othersDial(c, ev.Records) || gaveLoopback(c, ev.Records)
			if well := othersAnswered(c, t, ev.Records); !own && well != nil && !othersDial(c, ev.Records) {
				c.Borrow(well)
				own, ev.Records = true, append(ev.Records, well)
				slices.SortStableFunc(ev.Records, correlator.CompareEvents)
			}
			if len(ev.Records) == 0 || !own && (mute(c, t, ev.Records[0]) || endedOnRecord(c, t, ev.Records)) {
				return nil
			}
			if slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return turnedDown(e) && letOthersIn(c, e) }) {
				return nil // somebody listens there
			}
			if !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool {
				return turnedDown(e) && (e.Layer != semconv.LayerClient || !holds(e.Text, ownProxy))
			}) {
				ev.Rule, ev.Layer, ev.Mechanism = "client.proxy", semconv.LayerClient, "request"
				ev.NextCheck, ev.SafeAction = "the caller's proxy settings", "correct them; nothing reached the platform"
			} else if own {
				ev.Rule, ev.Layer, ev.Mechanism = "client.config", semconv.LayerClient, "config" // he dialled his own machine
				ev.NextCheck, ev.SafeAction = "which address the client is configured with", "correct the client's configuration; the platform was never asked"
			}
			ev.Summary = "nothing listens at the address that was dialled" + quote(ev.Records[slices.IndexFunc(ev.Records, turnedDown)])
			return []correlator.Evidence{ev}
		},
	}}
}

// othersAnswered is an answer that somebody else had of the platform, at about the time at which one caller alone was refused, nil where there is none.
func othersAnswered(c *correlator.Case, t *correlator.Trouble, refused []*correlator.Event) (well *correlator.Event) {
	if len(refused) == 0 || slices.ContainsFunc(refused, func(e *correlator.Event) bool { return e.Layer != semconv.LayerClient }) {
		return nil
	}
	look := func(e *correlator.Event) {
		door := e.Layer == semconv.LayerIngress || e.Layer == semconv.LayerAPI && e.SpanKind != "client"
		served := door && e.HTTP.Status >= 200 && e.HTTP.Status < 300 || e.Layer == semconv.LayerCert && strings.Contains(e.Text, " status=20")
		if well == nil && served && e.Allocation != c.ID && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			well = e
		}
	}
	first, last := refused[0].At, refused[len(refused)-1].At
	c.Each(first-recently, last+recently, look)
	c.EachOther(first-recently, last+recently, look)
	return well
}

// gaveLoopback says whether others dial, at their own machine, an address that the client gave them: it means something to him alone.
func gaveLoopback(c *correlator.Case, refused []*correlator.Event) bool {
	if len(refused) == 0 || slices.ContainsFunc(refused, func(e *correlator.Event) bool { return !ofLoopback(e) || e.Layer == semconv.LayerClient }) {
		return false
	}
	addresses := refusing(refused)
	return slices.ContainsFunc(c.Events, func(e *correlator.Event) bool {
		if e.Layer != semconv.LayerClient || e.At > refused[0].At || e.Signal == record.Span || e.Failed() {
			return false // where he dialled himself, he gave nobody that address
		}
		for a := range addresses {
			if strings.Contains(e.Text, a) {
				return true
			}
		}
		return false
	})
}

// letOthersIn says whether another machine got through to the address that refused this one, at about that time.
func letOthersIn(c *correlator.Case, refused *correlator.Event) bool {
	found := false
	addresses := refusing([]*correlator.Event{refused})
	c.Each(refused.At-recently, refused.At+recently, func(e *correlator.Event) {
		if found || e.Node == "" || e.Node == refused.Node || e.Failed() || !strings.Contains(e.Text, "connected") {
			return
		}
		for a := range addresses {
			found = found || strings.Contains(e.Text, a)
		}
	})
	return found
}

// othersDial says whether anybody but clients names one of the addresses that were refused, or any client was answered there: then it is the
// platform's, and not the caller's own.
func othersDial(c *correlator.Case, refused []*correlator.Event) bool {
	addresses := refusing(refused)
	found := false
	first := refused[0].At
	answered := func(e *correlator.Event) {
		server := e.Attr(semconv.ServerAddress) // where any client is answered at its own machine, that is how the platform is reached
		found = found || e.Layer == semconv.LayerClient && e.HTTP.Status > 0 && (addresses[server+":"+e.Attr(semconv.ServerPort)] || slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, server))
	}
	c.Each(first-int64(time.Hour), c.Now, func(e *correlator.Event) {
		if answered(e); found || e.Layer == semconv.LayerClient || e.Layer == "" {
			return
		}
		for a := range addresses {
			found = found || strings.Contains(e.Text, a)
		}
	})
	c.EachOther(first-int64(time.Hour), c.Now, answered)
	return found
}

// dialRefused are the words of a dial that nobody listened to (errno ECONNREFUSED, WSAECONNREFUSED, kubectl, semantic conventions).
var dialRefused = []string{"connection refused", "connection_refused", "econnrefused", "actively refused it", "errno 111", " was refused - did you specify"}

// ofProxiesAnswer are the words of a proxy that its caller repeats: the dial was the proxy's (Envoy).
var ofProxiesAnswer = []string{"upstream connect error", "delayed connect error"}

// turnedDown says whether a record tells of such a dial.
func turnedDown(e *correlator.Event) bool { return on(e, themeDialRefused) }

// address is what a dial names: a host or an IPv4 address, and a port.
var address = regexp.MustCompile(`[a-z0-9][a-z0-9.-]*:[0-9]{2,5}\b`)

// refusing are the addresses at which dials were refused, as callers name them.
func refusing(failures []*correlator.Event) map[string]bool {
	out := map[string]bool{}
	for _, e := range failures {
		if !turnedDown(e) {
			continue
		}
		for _, a := range address.FindAllString(e.Text, -1) {
			out[a] = true
		}
	}
	return out
}

// broken says whether a caller's connection to such an address ended in the middle: the service went while it was asked.
func broken(e *correlator.Event, gone map[string]bool) bool {
	if len(gone) == 0 || !strings.Contains(e.Text, ": eof") && !strings.Contains(e.Text, "connection reset by peer") {
		return false
	}
	return slices.ContainsFunc(address.FindAllString(e.Text, -1), func(a string) bool { return gone[a] })
}

// mute says whether the dialled service is one that the platform knows by name, and whose layer says nothing
// at all: then it may have crashed as well as not been there, and nobody can tell.
func mute(c *correlator.Case, t *correlator.Trouble, e *correlator.Event) bool {
	for word := range strings.FieldsFuncSeq(e.Text+" "+strings.ToLower(e.Attr(semconv.ServerAddress)), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		layer := c.Profile.Layer(word, "", none)
		if layer != "" && layer != e.Layer && len(word) > 3 && c.AliveBetween(layer, t.From-recently, c.Now) == nil {
			return true
		}
	}
	return false
}

// ofLoopback says whether a record tells of a dial to the caller's own machine. Whom a URL names may be dialled by way of another address.
func ofLoopback(e *correlator.Event) bool {
	if _, dialled, ok := strings.Cut(e.Text, "dial tcp "); ok {
		return holds(dialled, loopback)
	}
	return holds(e.Text+" "+e.Attr(semconv.ServerAddress), loopback)
}

var loopback = []string{"127.0.0.1", "localhost", "[::1]"}

// endedOnRecord says whether somebody tells that the service which was dialled ended, or could not start: then it was
// deployed, and why it does not run is known.
func endedOnRecord(c *correlator.Case, t *correlator.Trouble, refused []*correlator.Event) bool {
	dialled := ""
	for _, e := range refused {
		dialled = cmp.Or(dialled, correlator.LayerOfName(c.Profile, e.Attr(semconv.ServerAddress)), callee(c, e))
	}
	return slices.ContainsFunc(c.Beside(t, telling), func(e *correlator.Event) bool {
		s := hinted(e)
		return s != nil && strings.HasPrefix(s.ID, "process.") && e.Party() != "" && (dialled == "" || e.Party() == dialled)
	})
}
