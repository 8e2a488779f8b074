package rules

import (
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// rewritten finds proxies that ask for another path than they were asked for.
func rewritten() []correlator.Rule {
	return []correlator.Rule{{
		ID: "ingress.rewrites_path", Layer: semconv.LayerIngress, Mechanism: "route",
		Looks:      "a request that a proxy tells of by one path, and who stands behind it, at the same moment, by a longer or a shorter one that is unknown there",
		NextCheck:  "what the proxy's route does with the path: prefix, rewrite target",
		SafeAction: "correct the route; who answered that the path is unknown needs nothing",
		Find:       asksForAnotherPath,
	}}
}

// atOneMoment is how far the two words on one request may lie apart.
const atOneMoment = int64(time.Second)

// asksForAnotherPath needs both words, more than once, each time with the same change: a part before the path, or one left out.
func asksForAnotherPath(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var asked []*correlator.Event
	c.EachIn(semconv.LayerIngress, t.From-recently, t.At+moment, func(e *correlator.Event) {
		if e.HTTP.Status == 404 && len(e.HTTP.Path) >= longName && len(asked) < mostWithFailed && (closeTo(t, e) || correlator.EveryReaderHas(e) || c.Own(e, t)) {
			asked = append(asked, e)
		}
	})
	if len(asked) < 2 {
		return nil
	}
	var records []*correlator.Event
	change, times := "", 0
	for _, e := range asked {
		path := strings.ToLower(e.HTTP.Path)
		c.Each(e.At-atOneMoment, e.At+atOneMoment, func(o *correlator.Event) {
			if o.IsEvent() || o.Layer == semconv.LayerIngress || o.Layer == semconv.LayerClient || !strings.Contains(o.Text, "404") && !strings.Contains(o.Text, "not found") {
				return
			}
			if d := pathChanged(o.Text, path); d != "" && (change == "" || change == d) {
				change, times = d, times+1
				records = append(records, e, o)
			}
		})
	}
	if times < 2 {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Onset: records[0].At, Records: inOrder(records[:min(len(records), 2*ownWords)]...),
		Summary: "the proxy was asked for one path and asked for another: " + change + quote(records[0]),
	}}
}

// pathChanged is what a text has before a path, or lacks of it, "" where it has the very path, or none of it.
func pathChanged(text, path string) string {
	for i := 0; ; {
		at := strings.Index(text[i:], path)
		if at < 0 {
			break
		}
		begin := i + at
		start := strings.LastIndexAny(text[:begin], " \t\n\"'=(,;") + 1
		if before := text[start:begin]; strings.HasPrefix(before, "/") {
			return "with " + before + " before it"
		}
		i = begin + 1
	}
	if strings.Contains(text, path) {
		return ""
	}
	if cut := strings.Index(path[1:], "/"); cut > 0 && len(path)-cut > longName {
		rest := path[cut+1:]
		if at := strings.Index(text, rest); at > 0 && strings.ContainsRune(" \t\"'=(,", rune(text[at-1])) {
			return "without " + path[:cut+1]
		}
	}
	return ""
}
