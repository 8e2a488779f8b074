package loki

import (
	"maps"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/semconv"
)

// via is the name under which collector/lokiexporter sends how an allocation was found.
const via = "via"

// once gives each of the lines, which are in order of time, once. Loki knows a line that is sent again by its time, its text and its metadata. A
// record that an agent sent again, because the answer was lost, may have been stamped by the identity processor with less the first time, or
// after a restart: Loki has two lines then, alike in all that was said by who wrote them. Of these the one with most beside it stays.
func once(lines []query.Line) []query.Line {
	out := lines[:0]
	for _, l := range lines {
		again := false
		for i := len(out) - 1; i >= 0 && out[i].Time == l.Time; i-- {
			if again = same(out[i], l); again {
				if len(l.Labels) > len(out[i].Labels) {
					out[i] = l
				}
				break
			}
		}
		if !again {
			out = append(out, l)
		}
	}
	return slices.Clip(out)
}

// same says whether two lines of one moment differ in nothing but what was stamped.
func same(a, b query.Line) bool {
	return a.Line == b.Line && maps.Equal(said(a.Labels), said(b.Labels))
}

// said are labels and metadata without what the identity processor added.
func said(labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	for name := range strings.SplitSeq(labels[semconv.IdentityStamped], ",") {
		delete(out, name)
	}
	for _, name := range []string{via, semconv.IdentityVia, semconv.IdentityConflict, semconv.IdentityStamped} {
		delete(out, name)
	}
	return out
}
