package rules

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// olderVersion finds views that go on showing an older version of something than others told before.
func olderVersion() []correlator.Rule {
	return []correlator.Rule{{
		ID: "projection.older_version", Layer: semconv.LayerProjection, Mechanism: "stale",
		Looks:      "a view that shows, twice and a minute or more after it was told otherwise, an older version or another state of the same thing than who keeps it",
		NextCheck:  "since when the view has heard of no change, by its own log",
		SafeAction: "have the view read anew; what it shows needs nothing",
		Find:       showsOlder,
	}}
}

// versionWords are the words without which a text is not looked at for a version.
var versionWords = []string{"revision", "resourceversion", "statushash", "generation"}

// versionOf finds what version of something somebody tells of: "revision 7", "resourceVersion=778240", "statusHash=5779bc9fc87c4d58457d".
var versionOf = regexp.MustCompile(`\b(revision|resourceversion|statushash|generation)(?:=| ?: ?| )"?([0-9a-f]+)\b`)

// toldVersion is a version that a record of the allocation's own tells of.
type toldVersion struct {
	by       *correlator.Event
	of, what string
}

// toldVersions lists them, in order of time.
func toldVersions(c *correlator.Case) []toldVersion {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []toldVersion
		for _, e := range ownOn(c, themeVersion) {
			if m := versionOf.FindStringSubmatch(e.Text); m != nil {
				out = append(out, toldVersion{e, m[1], m[2]})
			}
		}
		slices.SortStableFunc(out, func(a, b toldVersion) int { return correlator.CompareEvents(a.by, b.by) })
		return out
	}).([]toldVersion)
}

// older says whether a version is before another one; of hashes, that it is another one is all that is known.
func (v toldVersion) older(than toldVersion) bool {
	a, notA := strconv.ParseInt(v.what, 10, 64)
	b, notB := strconv.ParseInt(than.what, 10, 64)
	if notA != nil || notB != nil {
		return v.what != than.what
	}
	return a < b
}

func showsOlder(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	told := toldVersions(c)
	for _, truth := range told {
		if truth.by.Party() == semconv.LayerProjection || truth.by.At > t.At {
			continue
		}
		var shown []*correlator.Event
		for _, view := range told {
			switch {
			case view.of != truth.of || view.by.Party() != semconv.LayerProjection || view.by.At < truth.by.At+int64(time.Minute) || view.by.At > t.At:
			case view.older(truth):
				shown = append(shown, view.by)
			default:
				shown = nil // it has come to it
			}
		}
		if len(shown) > 1 {
			return []correlator.Evidence{{
				Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: truth.by.At,
				Records: inOrder(append([]*correlator.Event{truth.by}, shown[:min(len(shown), ownWords)]...)...),
				Summary: "the view shows an older " + truth.of + " than was told before" + quote(shown[0]),
			}}
		}
	}
	return nil
}
