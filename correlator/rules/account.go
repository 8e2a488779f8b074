package rules

import (
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// account finds who may not do what he wants to, as Kubernetes words it: a service account, by its name in its namespace.
var account = regexp.MustCompile(`system:serviceaccount:[a-z0-9.-]+:([a-z0-9.-]+)`)

// ofItsAccount makes what an account lacks a rollout's, where the component of that name was rolled out shortly before, and nobody complained in between: what
// a program may do is rolled out along with it.
func ofItsAccount(c *correlator.Case, ev correlator.Evidence) correlator.Evidence {
	m := account.FindStringSubmatch(ev.Records[0].Text)
	if m == nil {
		return ev
	}
	var change *correlator.Event
	c.EachEvent(semconv.EventDeploy, ev.Onset-int64(changed), ev.Onset, func(e *correlator.Event) {
		if component := strings.ToLower(e.Attr(semconv.Component)); component == m[1] || component != "" && strings.HasSuffix(m[1], "-"+component) || len(component) >= longName && strings.HasPrefix(m[1], component) {
			change = e
		}
	})
	if change == nil {
		return ev
	}
	ev.Summary += ", since the rollout of " + what(change)
	ev = handedOver(ev, change, "deploy.role", "role")
	ev.NextCheck, ev.SafeAction = "the roles that came with that rollout, beside those before it", "roll it back, or give the account the verb and kind that are named"
	return ev
}
