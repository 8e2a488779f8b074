package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// staleUpstream finds proxies that go on asking where nobody is any more.
func staleUpstream() []correlator.Rule {
	return []correlator.Rule{{
		ID: "ingress.stale_upstream", Layer: semconv.LayerIngress, Mechanism: "stale", Words: movedAway,
		Looks:      "a proxy that asks one address in vain after the back end was moved, while the back end answers through another proxy, or at another address afterwards",
		NextCheck:  "where the proxy has its addresses from, and when it read them last",
		SafeAction: "reload the proxy; the back end and the network need nothing",
		Find:       asksFormerAddress,
	}}
}

// movedAway are the words of who ends or moves an instance of a back end (Kubernetes' events).
var movedAway = []string{"stopping container", "endpoint removed", "successfuldelete", "evict"}

// asksFormerAddress needs calls that fail at one address alone, or at several of which somebody tells that they changed, an answer from the same port of another one that this proxy does not ask meanwhile,
// and the end, or a rollout, of an instance of the back end before, or the proxy's own word that it does not hear of such.
func asksFormerAddress(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	asked := askedInVain(c, t)
	if asked == nil || asked.knows || slices.ContainsFunc(asked.records, func(e *correlator.Event) bool { return answeredInTime(c, t, e) }) {
		return nil // who was asked answered
	}
	first, well := asked.records[0], asked.well
	moved := cmp.Or(hearsOfNone(c, first), renumbered(c, t, asked.former))
	if len(asked.former) == 1 { // where it asks several, not all of them are gone by that
		moved = cmp.Or(endedBefore(c, first), moved)
	}
	if well == nil {
		well = servesOthers(c, t, first)
	}
	if host, _, _ := strings.Cut(first.HTTP.Upstream, ":"); well == nil && moved != nil && len(host) >= shortestID && strings.Contains(moved.Text, host) {
		well = c.AliveBetween(semconv.LayerAPI, first.At, c.Now) // who ended it names the very address
	}
	if well == nil && moved != nil {
		well = answersAt(c, t, moved, asked.former)
	}
	if well == nil || moved == nil {
		return nil
	}
	c.Borrow(well)
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself, Onset: first.At, Records: append(asked.records, moved, well)}
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Records = slices.Compact(ev.Records)
	ev.Summary = "the ingress still asks " + first.HTTP.Upstream + ", and the back end answers " + cmp.Or(well.HTTP.Upstream, "others") + quote(first)
	return []correlator.Evidence{ev}
}

// vain is what a proxy asked for in vain, and what it, or another one, had an answer from.
type vain struct {
	records []*correlator.Event
	former  map[string]*correlator.Event // the addresses, each with the first time
	well    *correlator.Event            // an answer from the same port of another one that this proxy did not ask meanwhile
	knows   bool                         // somebody is there all the same, or it has another one
}

// askedInVain gathers a trouble's calls to back ends that failed, nil where there are none.
func askedInVain(c *correlator.Case, t *correlator.Trouble) *vain {
	v := &vain{former: map[string]*correlator.Event{}}
	failures := slices.Concat(c.Failures(t), byPath(c, t))
	if t.Complaint && !slices.ContainsFunc(failures, func(e *correlator.Event) bool { return e.Layer == semconv.LayerIngress }) {
		failures = c.Beside(t, telling) // he does not say what he asked for
	}
	if t.NeverTaken() && !slices.ContainsFunc(failures, func(e *correlator.Event) bool { return e.Layer == semconv.LayerIngress }) {
		failures = passedOnTo(c, t, failures)
	}
	for _, e := range failures {
		to := e.HTTP.Upstream
		if e.Layer != semconv.LayerIngress || to == "" || e.HTTP.Status != 0 && e.HTTP.Status < 502 {
			continue
		}
		if v.former[to] == nil {
			v.former[to] = e
		}
		v.records = append(v.records, e)
	}
	if len(v.records) == 0 {
		return nil
	}
	first := v.records[0]
	port := portOf(first.HTTP.Upstream)
	c.EachIn(semconv.LayerIngress, t.From-recently, c.Now, func(e *correlator.Event) {
		to := e.HTTP.Upstream
		switch {
		case e.HTTP.Status == 0 || e.HTTP.Status >= 400 || to == "":
		case v.former[to] != nil:
			v.knows = v.knows || e.At > first.At
		case portOf(to) != port || port == "":
		case instanceOf(e) == instanceOf(first) && e.At < t.At && e.At > first.At:
			v.knows = true
		case e.At > first.At && (v.well == nil || correlator.EveryReaderHas(e) && !correlator.EveryReaderHas(v.well)):
			v.well = e
		}
	})
	return v
}

// passedOnTo are a proxy's failures of nobody's own in the moments at which the step's machine was answered that who should answer was not reached.
func passedOnTo(c *correlator.Case, t *correlator.Trouble, failures []*correlator.Event) (out []*correlator.Event) {
	const breath = int64(2 * time.Second)
	var told []*correlator.Event
	for _, e := range failures {
		if e.Layer == semconv.LayerNodeAgent && c.Own(e, t) && (e.HTTP.Status >= 502 || holds(e.Text, []string{"502", "503", "504"})) {
			told = append(told, e)
		}
	}
	if len(told) == 0 {
		return nil
	}
	for _, e := range c.Beside(t, telling) {
		if e.Layer == semconv.LayerIngress && slices.ContainsFunc(told, func(f *correlator.Event) bool { return max(f.At, e.At)-min(f.At, e.At) <= breath }) {
			out = append(out, e)
		}
	}
	return out
}

// leftBehind says whether all that was dialled in vain are addresses that the very proxy asks no more, since it has answers from others: that packets to
// them were lost is not known by that.
func leftBehind(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	asked := askedInVain(c, t)
	if asked == nil || asked.knows || asked.well == nil || instanceOf(asked.well) != instanceOf(asked.records[0]) || !correlator.EveryReaderHas(asked.well) {
		return false
	}
	return !slices.ContainsFunc(records, func(e *correlator.Event) bool {
		return e.Layer != semconv.LayerClient && !slices.Contains(asked.records, e)
	})
}

// servesOthers is an answer that the back end itself tells it gave well to somebody else while a proxy asked for it in vain, nil where there is none.
func servesOthers(c *correlator.Case, t *correlator.Trouble, first *correlator.Event) (well *correlator.Event) {
	look := func(e *correlator.Event) {
		if well == nil && e.At > first.At && e.Layer == semconv.LayerAPI && e.SpanKind != "client" && e.HTTP.Status >= 200 && e.HTTP.Status < 400 && e.Allocation != c.ID && (correlator.EveryReaderHas(e) || closeTo(t, e)) {
			well = e
		}
	}
	c.Each(first.At, t.At+recently, look)
	c.EachOther(first.At, t.At+recently, look)
	return well
}

// closeTo says whether a record is so close to where a trouble begins or ends that every reader has a sample of its kind.
func closeTo(t *correlator.Trouble, e *correlator.Event) bool {
	near := func(at int64) bool { return e.At > at-recently && e.At < at+recently }
	return near(t.From) || near(t.At)
}

// endedBefore is the last word, before a call failed, that an instance of the back end was ended or rolled out, nil where there is none.
func endedBefore(c *correlator.Case, failed *correlator.Event) (moved *correlator.Event) {
	c.Each(failed.At-int64(changed), failed.At, func(e *correlator.Event) {
		switch {
		case e.Is(semconv.EventDeploy) && layerOfName(c, e.Attr(semconv.Component)) == semconv.LayerAPI:
			moved = e
		case !e.IsEvent() && e.Party() == semconv.LayerAPI && holds(e.Text, movedAway):
			moved = e
		}
	})
	return moved
}

// hearsOfNone is the last word of the same process of a proxy, before a call failed, that it is not told any more where the back end's instances are
// (client-go's reflector), nil where there is none.
func hearsOfNone(c *correlator.Case, failed *correlator.Event) (told *correlator.Event) {
	c.EachIn(semconv.LayerIngress, failed.At-int64(changed), failed.At, func(e *correlator.Event) {
		if !e.IsEvent() && e.Failed() && instanceOf(e) == instanceOf(failed) && holds(e.Text, []string{"endpointslice", "*v1.endpoints"}) {
			told = e
		}
	})
	return told
}

// renumbered is the last word, before it was over, of somebody who is no proxy that an address asked became another one, nil where there is none.
func renumbered(c *correlator.Case, t *correlator.Trouble, former map[string]*correlator.Event) (told *correlator.Event) {
	for address, failed := range former {
		host, _, _ := strings.Cut(address, ":")
		if len(host) < shortestID {
			continue
		}
		c.Each(failed.At-int64(changed), t.At, func(e *correlator.Event) {
			if e.IsEvent() || e.Failed() || e.Layer == semconv.LayerIngress || e.Layer == semconv.LayerClient || !strings.Contains(e.Text, host) || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
				return
			}
			other := slices.ContainsFunc(networkAddress.FindAllString(e.Text, 4), func(a string) bool { return a != host })
			arrow := strings.Contains(e.Text, " -> ") && e.Party() != semconv.LayerNetwork // a probe's is from where it asked
			if other && (arrow || holds(e.Text, []string{"(was ", "changed", "re-created", "recreated", "moved", "replaced", "formerly"})) && (told == nil || e.At > told.At) {
				told = e
			}
		})
	}
	return told
}

// answersAt is the word of a probe that it had an answer at the address that another one became, nil where there is none.
func answersAt(c *correlator.Case, t *correlator.Trouble, moved *correlator.Event, former map[string]*correlator.Event) (well *correlator.Event) {
	c.Each(moved.At, t.At+recently, func(e *correlator.Event) {
		if e.IsEvent() || e.Failed() || e.Party() != semconv.LayerNetwork || !holds(e.Text, []string{" 200", " ok", "open"}) || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
			return
		}
		for _, address := range networkAddress.FindAllString(e.Text, 4) {
			old := false
			for asked := range former {
				old = old || strings.HasPrefix(asked, address+":")
			}
			if !old && strings.Contains(moved.Text, address) {
				well = e
			}
		}
	})
	return well
}

// instanceOf names one process of a proxy, as far as its records do.
func instanceOf(e *correlator.Event) string {
	return e.Service + " " + e.Attr("host.name") + " " + e.Attr("k8s.pod.name")
}

func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }
