package correlator

import "strings"

// Leftover gives the identifier of what stands in the way of a step although it belongs to something earlier,
// "" where the event tells of no such thing: a hypervisor that already holds a guest of that name under
// another identifier. The layer that stumbles over it is not therefore its owner: whose it is lies in the
// history of what was left over, and a cause must not be younger than its effect (domain facts §4.10, rule 6).
func Leftover(e *Event) string {
	const words = "already exists with uuid "
	_, after, found := strings.Cut(e.Text, words)
	if !found {
		return ""
	}
	end := strings.IndexFunc(after, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') && r != '-' })
	if end < 0 {
		end = len(after)
	}
	return after[:end]
}
