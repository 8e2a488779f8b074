package chdb

import (
	"regexp"
	"strconv"
	"strings"
)

// CodeUnknown stands for an exception whose text carries no code (ClickHouse: UNKNOWN_EXCEPTION).
const CodeUnknown = 1002

// Exception is an error that the engine reported. Text is the engine's own, "Code: 60. DB::Exception: …".
type Exception struct {
	Code int
	Text string
}

// Error returns the engine's text.
func (e *Exception) Error() string { return e.Text }

var codePattern = regexp.MustCompile(`^\s*Code:\s*(\d{1,9})\.`)

// exception reads the code off an engine's message; "" is no error.
func exception(text string) error {
	if text == "" {
		return nil
	}
	e := &Exception{Code: CodeUnknown, Text: strings.TrimSpace(text)}
	if m := codePattern.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			e.Code = n
		}
	}
	return e
}
