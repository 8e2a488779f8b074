package accesslog

import (
	"slices"
	"strconv"
	"strings"
)

// methods are those of RFC 9110 that programs serve.
var methods = [...]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}

// leads are words that some programs begin an access line with.
var leads = [...]string{"access", "request", "http"}

// withoutLead is a line without what stands before its method: one of leads, and named values.
func withoutLead(line string) string {
	for i, rest := 0, line; ; i++ {
		word, after, ok := strings.Cut(rest, " ")
		if !ok || i == 0 && !slices.Contains(leads[:], strings.ToLower(strings.Trim(word, "[]:"))) {
			return line
		}
		if i > 0 && !strings.Contains(word, "=") {
			return rest
		}
		rest = after
	}
}

// ParsePlain reads the shortest form of an access line, as frameworks write it: method, path and status, "GET /v1/tasks 503 12ms"; a
// protocol, an arrow and named values ("tenant=a") may stand before the status, the word "access" and named values before the method. It reads nothing
// else of the line.
func ParsePlain(line string) (Line, bool) {
	line = withoutLead(line)
	method, rest, ok := strings.Cut(strings.TrimPrefix(line, `"`), " ")
	if !ok || !strings.HasPrefix(rest, "/") {
		return Line{}, false
	}
	for _, m := range methods {
		if method != m {
			continue
		}
		path, rest, _ := strings.Cut(rest, " ")
		for word := range strings.FieldsSeq(rest) {
			word = strings.TrimRight(word, `",:;`)
			if status, err := strconv.Atoi(word); err == nil && len(word) == 3 && status >= 100 && status < 600 {
				return Line{Method: method, Path: strings.TrimRight(path, `",:`), Status: status}, true
			}
			if name, value, ok := strings.Cut(word, "="); ok && name != "" && value != "" {
				if status, err := strconv.Atoi(value); name == "status" && err == nil && status >= 100 && status < 600 {
					return Line{Method: method, Path: strings.TrimRight(path, `",:`), Status: status}, true
				}
				continue
			}
			if !strings.HasPrefix(word, "HTTP/") && word != "answered" && strings.Trim(word, "->=") != "" {
				break
			}
		}
	}
	return Line{}, false
}
