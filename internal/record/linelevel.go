package record

import "strings"

// LineLevel is the severity that a program wrote into its own line, in the usual forms of logs, as an OTLP number; 0 where it wrote none in such a form. Whoever
// collects a file without parsing it states none, or INFO, for every line.
//
// The forms: PostgreSQL ("ERROR:  ", log_line_prefix before it), nginx ("2026/03/02 10:00:00 [error] "), klog ("E0302 10:00:00.000000 "), logfmt ("level=error")
// and JSON ("\"level\":\"error\"").
func LineLevel(body string) int {
	head := body[:min(len(body), headBytes)]
	switch {
	case len(head) < 12:
		return 0
	case head[5] == ' ' && strings.IndexByte("IWEF", head[0]) >= 0 && digits(head[1:5]):
		return map[byte]int{'I': 9, 'W': 13, 'E': 17, 'F': 21}[head[0]]
	case len(head) > 24 && head[4] == '/' && head[7] == '/' && head[20] == '[' && digits(head[:4]):
		word, _, closed := strings.Cut(head[21:], "]")
		if closed {
			return SeverityNumber(word)
		}
		return 0
	}
	if i := strings.Index(head, ":  "); i > 0 {
		if word := head[strings.LastIndexByte(head[:i], ' ')+1 : i]; word == strings.ToUpper(word) {
			if n := SeverityNumber(word); n != 0 {
				return n
			}
		}
	}
	if _, after, found := strings.Cut(head, "level"); found {
		after = strings.TrimPrefix(after, "\"")
		if !strings.HasPrefix(after, "=") && !strings.HasPrefix(after, ":") {
			return 0
		}
		after = strings.TrimLeft(after[1:], "\" ")
		if end := strings.IndexFunc(after, func(r rune) bool { return r < 'A' || r > 'z' || r > 'Z' && r < 'a' }); end > 0 {
			return SeverityNumber(after[:end])
		}
	}
	return 0
}

// headBytes is how much of a line is read for its level: what comes later is what the program says.
const headBytes = 160

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// SeverityNumber reads the usual names of severities, for where the number is missing; 0 is none of them.
func SeverityNumber(name string) int {
	switch strings.ToLower(name) {
	case "trace":
		return 1
	case "debug":
		return 5
	case "info", "information", "notice":
		return 9
	case "warn", "warning":
		return 13
	case "error", "err":
		return 17
	case "fatal", "critical", "crit", "emerg", "alert", "panic":
		return 21
	}
	return 0
}
