package lifecycle

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown is the tables of all state machines, their guards, and what is never used, for the documentation.
func Markdown() string {
	var b strings.Builder
	type condition struct {
		of, name string
		reasons  []Reason
	}
	var guards []condition
	for _, m := range StateMachines() {
		_, _ = fmt.Fprintf(&b, "**%s** (`%s`)\n\n| from | to | when | guard |\n|---|---|---|---|\n", m.What, m.Of)
		for _, l := range m.Lines {
			_, _ = fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", orDash(l.From), l.To, l.Trigger, orDash(code(l.Guard)))
			if l.Guard != "" && !slices.ContainsFunc(guards, func(c condition) bool { return c.of == m.Of && c.name == l.Guard }) {
				guards = append(guards, condition{m.Of, l.Guard, l.Refusals})
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("| guard | of | refused as | satisfied by |\n|---|---|---|---|\n")
	for _, g := range guards {
		var reasons, remedies []string
		for _, r := range g.reasons {
			reasons, remedies = append(reasons, code(string(r))), append(remedies, r.Remedy())
		}
		_, _ = fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", g.name, g.of, strings.Join(reasons, ", "), strings.Join(remedies, "; "))
	}
	b.WriteString("\n| never used here | of | why |\n|---|---|---|\n")
	for _, u := range UnusedStates() {
		_, _ = fmt.Fprintf(&b, "| `%s` | %s | %s |\n", u.State, u.Of, u.Why)
	}
	return b.String()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
