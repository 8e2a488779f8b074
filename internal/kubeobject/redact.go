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
	pem      = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`)
)

// documents are beginnings of texts that are secret as a whole: what a node is told at its first boot.
var documents = []string{"#cloud-config", "#cloud-boothook", "#include", "Content-Type: multipart/mixed", "## template: jinja"}

// redact takes out of free text what a controller should not have put there: the variables of a launched
// job, and whatever looks like a secret.
func redact(s string) string {
	s = shorten(s, 8*maxValueBytes) // what is cut off is looked at no more
	for _, word := range []string{"extra_vars", "extraVars"} {
		if i := strings.Index(s, word); i >= 0 {
			s = strings.TrimRight(s[:i], " \t{\"'[(,") + " [redacted]"
		}
	}
	return shorten(strings.TrimSpace(scrub(s)), maxValueBytes)
}

// scrub takes out of text of any length whatever looks like a secret, and nothing else.
func scrub(s string) string {
	for _, begin := range documents {
		if strings.HasPrefix(strings.TrimSpace(s), begin) {
			return Withheld
		}
	}
	if !suspicious(s) {
		return s
	}
	s = pem.ReplaceAllString(s, Withheld)
	s = assigned.ReplaceAllString(s, "${1}"+Withheld)
	s = bearer.ReplaceAllString(s, "$1 "+Withheld)
	s = jwt.ReplaceAllString(s, Withheld)
	return userinfo.ReplaceAllString(s, "://"+Withheld+"@")
}

// suspicious costs less than the expressions, which hardly any text needs.
func suspicious(s string) bool {
	if strings.Contains(s, "eyJ") || strings.Contains(s, "PRIVATE KEY") || strings.Contains(s, "://") {
		return true
	}
	low := strings.ToLower(s)
	for _, word := range []string{"passw", "secret", "token", "api_key", "api-key", "apikey", "authorization", "credential", "bearer", "basic"} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}
