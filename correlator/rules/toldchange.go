package rules

import (
	"math"
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// configured finds that a device of the network tells of a change of what it was told to do (Cisco's SYS-5-CONFIG_I, Junos' UI_COMMIT, firewalls' policy
// packages, and whatever names an access list or a set of rules and what became of it).
var configured = regexp.MustCompile(`%sys-5-config_i|configured from |\bui_commit|\bcommit complete|` +
	`\b(?:policy|policies|access-list|access list|acl|ruleset|rule set|rules?|prefix-list|route-map|firewall|filter|package|configuration|config)\b.{0,60}\b(?:applied|installed|loaded|replaced|pushed|committed|activated|updated|restored|reverted|rolled back)\b`)

// takenBack are the words of such a change that brings back what was before.
var takenBack = []string{"restored", "reverted", "rolled back", "rollback", "taken back", "undone"}

// toldChanges are what devices of the network tell of changes of theirs, in order of time, where no rollout is on record for them.
func toldChanges(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		c.EachIn(semconv.LayerNetwork, math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			if !e.IsEvent() && e.Node == "" && configured.MatchString(e.Text) {
				out = append(out, e)
			}
		})
		return out
	}).([]*correlator.Event)
}

// toldBeside is a change that the network tells of in the same moment as a rollout, and that was not taken back before a time; nil where there is none.
func toldBeside(c *correlator.Case, t *correlator.Trouble, rollout *correlator.Event, until int64) (told *correlator.Event) {
	for _, e := range toldChanges(c) {
		switch near := max(e.At, rollout.At)-min(e.At, rollout.At) <= moment; {
		case !closeTo(t, e) && !correlator.EveryReaderHas(e):
		case told != nil && e.At > told.At+moment && e.At < until && e.Service == told.Service && holds(e.Text, takenBack):
			return nil
		case near && !holds(e.Text, takenBack):
			told = e
		}
	}
	return told
}

// changeOf says what was changed: what a rollout names, or the words of who tells of a change.
func changeOf(e *correlator.Event) string {
	if e.IsEvent() {
		return what(e)
	}
	line, _, _ := strings.Cut(e.Summary(), "\n")
	return line
}
