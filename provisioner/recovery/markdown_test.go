package recovery

import (
	"fmt"
	"strings"
)

// Markdown is the table of actions for the documentation.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| action | role | does | moves | guards |\n|---|---|---|---|---|\n")
	for _, a := range Actions() {
		var guards []string
		for _, g := range a.Guards {
			guards = append(guards, "`"+g.Name+"`")
		}
		_, _ = fmt.Fprintf(&b, "| `%s` of %s | %s | %s | %s | %s |\n", a.Name, article(a.Of), a.Role, a.Does, a.MovesText(), strings.Join(guards, " "))
	}
	b.WriteString("\n| guard | refused as | satisfied by |\n|---|---|---|\n")
	seen := map[string]bool{}
	for _, a := range Actions() {
		for _, g := range a.Guards {
			if !seen[g.Name] {
				seen[g.Name] = true
				_, _ = fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", g.Name, g.Refusal, g.SatisfiedBy())
			}
		}
	}
	return b.String()
}

func article(k Kind) string {
	if k == Allocations {
		return "an allocation"
	}
	return "a " + k.One()
}
