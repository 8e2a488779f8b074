package chhttp

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

var (
	insertPattern = regexp.MustCompile(`(?is)^(INSERT\s+INTO\s.*?)\s+FORMAT\s+([A-Za-z][A-Za-z0-9]*)\s*;?\s*$`)
	formatPattern = regexp.MustCompile(`(?is)\sFORMAT\s+([A-Za-z][A-Za-z0-9]*)\s*;?\s*$`)
	helloPattern  = regexp.MustCompile(`(?i)^\s*SELECT\s+displayName\(\),\s*version\(\),\s*revision\(\),\s*timezone\(\)\s*;?\s*$`)
	syncPattern   = regexp.MustCompile(`(?i)\bSYNC(\s*;?\s*)$`)
	killPattern   = regexp.MustCompile(`(?is)^\s*KILL\s+QUERY\s+WHERE\s+query_id\s*=\s*'([^'\\]*)'\s*(SYNC|ASYNC|TEST)?\s*;?\s*$`)
)

// words returns the first n words of text in upper case, comments and blanks skipped. An opening parenthesis is a word.
// It stops at anything else.
func words(text string, n int) []string {
	var out []string
	for len(out) < n {
		text = skipBlank(text)
		if text == "" {
			break
		}
		if text[0] == '(' {
			out, text = append(out, "("), text[1:]
			continue
		}
		end := 0
		for end < len(text) && (text[end] == '_' || text[end]|0x20 >= 'a' && text[end]|0x20 <= 'z') {
			end++
		}
		if end == 0 {
			break
		}
		out, text = append(out, strings.ToUpper(text[:end])), text[end:]
	}
	return out
}

// skipBlank drops leading blanks and comments.
func skipBlank(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n\f\v")
		switch {
		case strings.HasPrefix(text, "--"), strings.HasPrefix(text, "#!"), strings.HasPrefix(text, "# "):
			_, rest, found := strings.Cut(text, "\n")
			if !found {
				return ""
			}
			text = rest
		case strings.HasPrefix(text, "/*"):
			_, rest, found := strings.Cut(text, "*/")
			if !found {
				return ""
			}
			text = rest
		default:
			return text
		}
	}
}

// splitInsert takes "INSERT INTO t (a) FORMAT Native" apart: data in that format follows in the body.
func splitInsert(text string) (insert, format string, ok bool) {
	m := insertPattern.FindStringSubmatch(skipBlank(text))
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// outputFormat is the FORMAT clause at a query's end, or otherwise.
func outputFormat(text, otherwise string) string {
	if m := formatPattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return otherwise
}

// streams says whether the engine hands the result out in chunks: SELECTs only, by whatever they begin with.
func streams(a chdb.Analysis, first []string) bool {
	if a.Class != chdb.ReadOnly || len(first) == 0 {
		return false
	}
	switch first[0] {
	case "SELECT", "WITH", "(", "FROM":
		return true
	}
	return false
}

// lasting says that a statement changed the session rather than the data: the session is not to be reused.
func lasting(first []string) bool {
	return len(first) > 0 && (first[0] == "USE" || first[0] == "SET")
}

// permit refuses what may not run here. The engine has no users or grants: this is the whole of the policy.
//
// SYSTEM SHUTDOWN sends SIGTERM to the process *group*; a temporary table, a transaction or a SET would outlive its request
// in a pooled session; INTO OUTFILE and INSERT INTO FUNCTION write files of the server.
func permit(a chdb.Analysis, first []string, get bool) error {
	switch {
	case a.Class == chdb.Unknown:
		return refusal(syntaxError, "the text holds no statement that this version can classify")
	case a.Statements != 1:
		return refusal(syntaxError, fmt.Sprintf("Multi-statements are not allowed: the text holds %d", a.Statements))
	case get && a.Class != chdb.ReadOnly:
		return refusal(readonly, "GET is for reading: use POST")
	case a.Class != chdb.Control:
		return nil
	}
	if len(first) > 0 {
		switch first[0] {
		case "KILL", "USE", "SET", "ATTACH", "DETACH", "BACKUP", "RESTORE":
			return nil
		case "SYSTEM":
			if len(first) > 1 && systemAllowed(first[1]) {
				return nil
			}
		}
	}
	return refusal(accessDenied, "this statement reaches beyond the databases (files, the session or the process) and is not served here")
}

func systemAllowed(word string) bool {
	switch word {
	case "FLUSH", "CLEAR", "DROP", "RELOAD", "START", "STOP", "SYNC", "REFRESH", "WAIT", "CANCEL", "LOAD", "UNLOAD":
		return true
	}
	return false
}
