package correlator

import (
	"fmt"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// explanation says the verdict in one or two sentences.
func (j *judgement) explanation() string {
	switch j.v.Outcome {
	case Attributed:
		var parts []string
		for _, f := range j.v.Faults {
			parts = append(parts, f.Layer+" owns it: "+f.Summary+".")
		}
		return strings.Join(parts, " ")
	case Contested:
		var parts []string
		for _, f := range j.v.Faults {
			parts = append(parts, f.Layer+" ("+f.Summary+")")
		}
		return "equal evidence for " + strings.Join(parts, " and ") + "."
	case Undetermined:
		var parts []string
		for _, t := range j.open {
			parts = append(parts, t.What)
		}
		text := "something is wrong and the evidence does not reach its cause: " + strings.Join(dedupe(parts), "; ") + "."
		if pair := j.c.lostBetween(j.open[0]); len(pair) == 2 {
			text += " What became of it between " + pair[0] + " and " + pair[1] + " is not told."
		}
		return text
	}
	return j.healthy()
}

func dedupe(in []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range in {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// healthy explains why nothing is wrong: somebody wanted it so, or it goes on within its time.
func (j *judgement) healthy() string {
	c := j.c
	if e := c.Lifecycle.Cancel; e != nil {
		who := firstOf(e.Attr(semconv.Actor), "the user")
		text := "ended on request of " + who + " at " + Time(e.At).Milli()
		if r := e.Attr(semconv.Reason); r != "" {
			text += " (" + firstLine(r, "") + ")"
		}
		return text + "; what failed afterwards follows from that."
	}
	for _, t := range c.Troubles() {
		e := j.byHand(t)
		switch {
		case e == nil:
		case !e.Is(semconv.EventAudit):
			return t.What + " because somebody shut the machine down from inside (" + firstLine(e.Summary(), "") + "); that is nobody's fault."
		default:
			return t.What + " because " + join(firstOf(e.Attr(semconv.Actor), "somebody"), "asked for", e.Attr(semconv.Action), because(e.Attr(semconv.Reason))) + "; that is nobody's fault."
		}
	}
	state, since, ok := c.Lifecycle.State()
	if !ok {
		return "no fault is seen; no allocation state was seen either."
	}
	in := time.Duration(c.Now - since).Round(time.Second)
	slowest, took := c.slowest()
	text := fmt.Sprintf("%s since %s", state, Time(since))
	if !terminal(state) {
		text = fmt.Sprintf("still progressing: %s for %s", state, in)
	}
	if list := c.Obligations(); len(list) > 0 && list[0].Owes != "" && !list[0].Overdue(c.Now) {
		text += "; " + list[0].Owes + " has the next move, until " + Time(list[0].Deadline).String()
	}
	if slowest != "" {
		text += fmt.Sprintf("; the longest step, %s, took %s, within its budget", slowest, took.Round(time.Millisecond))
	}
	return text + "."
}

// slowest is the longest finished task.
func (c *Case) slowest() (what string, took time.Duration) {
	for _, a := range c.Lifecycle.Tasks {
		if a.Over == nil || a.Over.To() != semconv.Succeeded {
			continue
		}
		if d := time.Duration(a.Over.At - a.From()); d > took {
			what, took = join("task", a.Task, parenthesis(a.Type)), d
		}
	}
	return what, took
}
