package rules

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// expiredLink finds links that were good for a time which was over.
func expiredLink() []correlator.Rule {
	return []correlator.Rule{{
		ID: "client.link_expired", Layer: semconv.LayerClient, Mechanism: "request",
		Looks:      "a signed link that the user sent, that says itself how long it is good, and that was refused after that time",
		NextCheck:  "when the link was signed, and for how long",
		SafeAction: "send a fresh link; who keeps what it leads to, and the machine, need nothing",
		Find:       linkRanOut,
	}}
}

// signedLink finds a link with the time at which it was signed and for how many seconds it is good (AWS Signature Version 4, Google's V4 signing).
var signedLink = regexp.MustCompile(`https?://[^\s"'<>;,]*x-(?:amz|goog)-date=[^\s"'<>;,]*`)

func linkRanOut(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	for _, e := range c.Failures(t) {
		if e.IsEvent() || !strings.Contains(e.Text, "-expires=") {
			continue
		}
		place, end := linkOf(e.Text)
		if place == "" || e.At <= end {
			continue
		}
		sent := slices.IndexFunc(c.Events, func(o *correlator.Event) bool {
			p, until := linkOf(o.Text)
			return o.Layer == semconv.LayerClient && o.At <= e.At && p == place && until == end
		})
		if sent < 0 {
			continue // who made the link is not known
		}
		return []correlator.Evidence{{
			Weight: correlator.Specific, Directness: correlator.Caller, Certain: c.Events[sent].At > end, Onset: e.At, Records: []*correlator.Event{c.Events[sent], e},
			Summary: "the link that the user sent was good until " + correlator.Time(end).String() + quote(e),
		}}
	}
	return nil
}

// ranOut says whether a record tells of a signed link after the time for which it was good: nobody decided about its caller.
func ranOut(e *correlator.Event) bool {
	place, end := linkOf(e.Text)
	return place != "" && e.At > end
}

// linkOf is where the first signed link of a text leads to, and until when it is good: "" where there is none.
func linkOf(text string) (place string, end int64) {
	if !strings.Contains(text, "-expires=") {
		return "", 0
	}
	link, err := url.Parse(signedLink.FindString(text))
	if err != nil || link.Host == "" {
		return "", 0
	}
	query := link.Query()
	for _, by := range []string{"x-amz-", "x-goog-"} {
		signed, err := time.Parse("20060102t150405z", query.Get(by+"date"))
		good, wrong := strconv.Atoi(query.Get(by + "expires"))
		if err == nil && wrong == nil && good > 0 && good <= longestLink && signed.Year() > 1999 && signed.Year() < 2200 {
			return link.Host + link.Path, signed.Add(time.Duration(good) * time.Second).UnixNano()
		}
	}
	return "", 0
}

// longestLink is for how many seconds a link can be good at most: seven days, in both ways of signing.
const longestLink = 604800
