package accesslog

import (
	"strconv"
	"strings"
)

// methods are those of RFC 9110 that programs serve.
var methods = [...]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}

// ParsePlain reads the shortest form of an access line, as frameworks write it: method, path and status, "GET /v1/tasks 503 12ms"; a
// protocol, an arrow and named values ("tenant=a") may stand before the status. It reads nothing else of the line.
func ParsePlain(line string) (Line, bool) {
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
			if !strings.HasPrefix(word, "HTTP/") && strings.Trim(word, "->=") != "" {
				break
			}
		}
	}
	return Line{}, false
}
