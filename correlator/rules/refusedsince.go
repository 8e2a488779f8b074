package rules

import (
	"regexp"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// refusedSince finds callers that who decides refuses since a rollout of what is decided by.
func refusedSince() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.refused_since", Layer: semconv.LayerDeploy, Mechanism: "policy",
		Looks:      "a machine that was refused, the word of who decided for whom, and a rollout of what is decided by before it",
		NextCheck:  "what that rollout changed of what is decided by",
		SafeAction: "roll it back; the subject and its credential need nothing",
		Find:       refusedAfterRollout,
	}}
}

// subjectWords find of whom a decision was taken.
var subjectWords = regexp.MustCompile(`\b(?:arn|principal|subject|sub|user|username|role|client_id|access_key|key)=\\?["']?([^\s"',\\]{5,})`)

// together is how far a refusal and the words of who was refused may lie apart.
const together = int64(2 * time.Second)

func refusedAfterRollout(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	var met []*correlator.Event // by the allocation's own
	for _, e := range c.Failures(t) {
		if !e.IsEvent() && e.Layer != semconv.LayerAPIAuth && on(e, themeRefusedAs) {
			met = append(met, e)
		}
	}
	if len(met) == 0 {
		return nil
	}
	var denial, own *correlator.Event
	c.EachIn(semconv.LayerAPIAuth, t.From-moment, t.At+moment, func(e *correlator.Event) {
		if denial != nil || e.Layer != semconv.LayerAPIAuth || !e.Failed() || !refusal(e) || !subjectWords.MatchString(e.Text) {
			return
		}
		for _, o := range met {
			if o.At-e.At < together && e.At-o.At < together {
				denial, own = e, o
			}
		}
	})
	if denial == nil {
		return nil
	}
	ev := correlator.Evidence{
		Layer: semconv.LayerAPIAuth, Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: denial.At, Records: []*correlator.Event{own, denial},
		Summary: "who decides refuses the machine" + quote(denial),
	}
	if ev = byRollout(c, ev, "policy", decidedBy...); ev.Layer != semconv.LayerDeploy {
		return nil
	}
	ev.Rule = ""
	return []correlator.Evidence{ev}
}

// decidedBy are the words of a rollout of what is decided by.
var decidedBy = []string{"policy", "policies", "rbac", "subjects", "rego", "permission", "role", "auth", "iam", "acl"}

// refusedAs are the words of who was refused.
var refusedAs = []string{"unauthorized", "forbidden", "access denied", "permission denied", "unauthenticated", "not authorized", "accessdenied"}
