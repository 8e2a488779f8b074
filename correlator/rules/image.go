package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// brokenPull says whether an image that could not be pulled is told of with a connection that broke off: the image is there.
func brokenPull(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	if slices.ContainsFunc(records, func(e *correlator.Event) bool { return !holds(e.Text, pullWords) }) {
		return false
	}
	return slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool {
		return strings.Contains(e.Text, "pull") && (brokenOff.Any(e.Text) || strings.HasSuffix(e.Text, ": eof") || holds(e.Text, []string{"tls handshake timeout", "i/o timeout", "deadline exceeded"}))
	})
}

// unpublished are the words of a provider for an image that is not where it is told to be, or not what it is told to be (Ironic, Glance, HTTP).
var unpublished = []string{"validation of image href", "http code 404", "404 not found", "failed to verify against checksum", "image checksum", "checksum does not match"}

// brokeOffFetching says whether who fetched an image tells that it broke off on the way, where the provider says no more than that it did not come.
func brokeOffFetching(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	if slices.ContainsFunc(records, func(e *correlator.Event) bool { return !strings.Contains(e.Text, "download") }) {
		return false
	}
	return slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool {
		return (e.Party() == semconv.LayerNodeAgent || e.Party() == semconv.LayerNode) && strings.Contains(e.Text, "download") && (holds(e.Text, tooLate) || brokenOff.Any(e.Text))
	})
}

// ofNewImage hands an image that is not what it should be over to the rollout that brought it, where the complaint names what that rolled out.
func ofNewImage(c *correlator.Case, ev correlator.Evidence) correlator.Evidence {
	of := byRollout(c, ev, "image", "image", "catalog", "template")
	if of.Layer != semconv.LayerDeploy || !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return names(e.Text, of.Records[0]) }) {
		return ev
	}
	return of
}

// names says whether a text holds what a rollout brought, by its version or by the name of what it configures.
func names(text string, rollout *correlator.Event) bool {
	for _, version := range []string{rollout.Attr(semconv.Version), rollout.To()} {
		if len(version) > 2 && strings.ContainsAny(version, "0123456789") && strings.Contains(text, strings.ToLower(version)) {
			return true
		}
	}
	config := strings.ToLower(rollout.Attr(semconv.Config))
	return len(config) >= longName && strings.ContainsAny(config, "0123456789") && strings.Contains(text, config)
}

// pullWords are those of a kubelet that could not pull an image, whatever the reason.
var pullWords = []string{"imagepullbackoff", "errimagepull", "failed to pull image", "back-off pulling"}

// metAgain says whether an image was not as it was told to be on another machine, or at another try, too: of one alone the machine, the way and the
// server are as likely.
func metAgain(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) (again bool) {
	first := records[0]
	c.Each(t.From-recently, t.At+recently, func(e *correlator.Event) {
		if e.IsEvent() || !holds(e.Text, unpublished) {
			return
		}
		again = again || e.Node != first.Node && e.Node != "" && first.Node != "" || e.At > first.At+int64(time.Minute) || strings.Contains(e.Text, "404")
	})
	c.EachOther(t.From-recently, t.At+recently, func(e *correlator.Event) { again = again || holds(e.Text, unpublished) })
	return again
}
