package rules

import (
	"regexp"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// numbered finds things that programs call by a word and a number: "shelf 14", "form 7781", "segment=88213".
var numbered = regexp.MustCompile(`\b(\p{L}{4,})[ =:#]{1,2}(\d{1,9})\b`)

// ofAnything are the words before a number that names nothing: a count, a time, a code, an address.
var ofAnything = []string{"after", "attempt", "about", "bytes", "code", "count", "error", "errno", "exit", "exited", "http", "in", "last", "limit", "line", "only", "over", "page", "port", "retry", "retries", "returned", "round", "seconds", "signal", "size",
	"status", "than", "timeout", "total", "version", "within", "with", "first", "every", "until", "since", "took", "from", "place", "answered", "workers", "worker", "thread", "task", "step", "node", "vlan", "request"}

// thingsOf are the numbered things that a text names.
func thingsOf(text string) (out []string) {
	for _, m := range numbered.FindAllStringSubmatch(text, 8) {
		if !slices.Contains(ofAnything, m[1]) {
			out = append(out, m[1]+" "+m[2])
		}
	}
	return out
}

// sameThing makes a step's own complaint, which blames nobody, one about a program that no catalogue knows and that had told of trouble with the very thing of
// which it speaks: who is refused "shelf 14" by nobody whom he names is refused by who says that shelf 14 is shut.
func sameThing(c *correlator.Case, t *correlator.Trouble, said []statement) {
	if len(heard(c).strangers) == 0 {
		return
	}
	whose := map[string]int{}
	for i, s := range said {
		if s.about != "" || s.event.Severity < 13 || c.Own(s.event, t) || strangerAs(c, s.event.Service) != s.party || s.party == semconv.LayerClient {
			continue
		}
		for _, thing := range thingsOf(s.event.Text) {
			if _, known := whose[thing]; !known {
				whose[thing] = i
			}
		}
	}
	if len(whose) == 0 {
		return
	}
	for i, s := range said {
		if s.about != "" || !s.event.Failed() || !c.Own(s.event, t) || s.party == semconv.LayerClient {
			continue
		}
		for _, thing := range thingsOf(s.event.Text) {
			if j, known := whose[thing]; known && said[j].party != s.party && said[j].event.At <= s.event.At+int64(time.Minute) {
				said[i].about, said[i].echo, said[j].echo = said[j].party, false, false
			}
		}
	}
}
