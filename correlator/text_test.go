package correlator

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Of a text of several lines the one that says what happened is told.
func TestTellingPart(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := tellingPart(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f("disk full", "disk full")
	f("first\nsecond", "first\nsecond")
	f("Traceback (most recent call last):\n  File \"a.py\", line 3\n    x()\nKeyError: 'node'\n", "KeyError: 'node'")
	f("2026-03-02 ERROR x\nTraceback (most recent call last):\n  File \"a.py\"\nOSError: no space", "OSError: no space")
	f("java.lang.RuntimeException: boot\n\tat A.b(A.java:3)\nCaused by: java.io.IOException: closed\n\tat C.d(C.java:1)", "Caused by: java.io.IOException: closed\n\tat C.d(C.java:1)")
	f(`{"level":"info","msg":"request rejected","status":400,"err":"json: unknown field \"wipe\""}`, `request rejected: json: unknown field "wipe"`)
	f(`{"@timestamp":"2026-03-02T10:00:00Z","message":"call failed","error":{"type":"X","message":"no route to host"}}`, "call failed: no route to host")
	f(`{"severity":"ERROR","error":"disk full"}`, "disk full")
	f(`{"log":"panic: nil map\n","stream":"stderr"}`, "panic: nil map")
	f(`{"msg":"dial db: refused","error":"refused"}`, "dial db: refused")
	f(`{"msg":"Traceback (most recent call last):\n  File \"a.py\"\nOSError: no space"}`, "OSError: no space")
	f(`{"status":503,"upstream":"10.0.0.7:8080"}`, `{"status":503,"upstream":"10.0.0.7:8080"}`)
	f(`{"msg":["a"],"error":{"code":7}}`, `{"msg":["a"],"error":{"code":7}}`)
	f(`{broken}`, `{broken}`)
	f("{}", "{}")
}

// A long line is shown with its end: the cause of an error's chain stands there.
func TestLongLines(t *testing.T) {
	chain := "launch: " + strings.Repeat("retry failed: ", 30) + "x509: certificate signed by unknown authority"
	if got := firstLine(chain, ""); !strings.HasPrefix(got, "launch: retry") || !strings.HasSuffix(got, "x509: certificate signed by unknown authority") || len(got) > 250 {
		t.Errorf("%q", got)
	}
	for n := range 6 { // wherever the cut falls, no character is broken
		if got := firstLine(strings.Repeat("x", n)+strings.Repeat("ü€", 120), ""); !utf8.ValidString(got) {
			t.Errorf("%d: %q", n, got)
		}
	}
	if got := firstLine(" short \nsecond", "-"); got != "short " {
		t.Errorf("%q", got)
	}
}
