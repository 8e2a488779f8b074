package kubeobject

import (
	"regexp"
	"strings"
)

// maxValueBytes bounds an attribute; messages of controllers hold whole tracebacks.
const maxValueBytes = 1024

var (
	assigned = regexp.MustCompile(`(?i)((?:password|passwd|secret|token|api[_-]?key|authorization|credentials?)["']?\s*[:=]\s*)(?:"[^"]*"|'[^']*'|(?:bearer |basic )?[^\s,;"'}]+)`)
	bearer   = regexp.MustCompile(`(?i)\b(bearer|basic) [A-Za-z0-9._~+/=-]{8,}`)
	jwt      = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]+`)
	userinfo = regexp.MustCompile(`://[^/\s@:]+:[^/\s@]+@`)
)

// redact takes out of free text what a controller should not have put there: the variables of a launched
// job, and whatever looks like a secret.
func redact(s string) string {
	s = clip(s, 8*maxValueBytes) // what is cut off is looked at no more
	for _, word := range []string{"extra_vars", "extraVars"} {
		if i := strings.Index(s, word); i >= 0 {
			s = strings.TrimRight(s[:i], " \t{\"'[(,") + " [redacted]"
		}
	}
	s = assigned.ReplaceAllString(s, "${1}[redacted]")
	s = bearer.ReplaceAllString(s, "$1 [redacted]")
	s = jwt.ReplaceAllString(s, "[redacted]")
	s = userinfo.ReplaceAllString(s, "://[redacted]@")
	return clip(strings.TrimSpace(s), maxValueBytes)
}
