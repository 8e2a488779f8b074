package api_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// released is the description of the last release: what callers out there may rely on.
const released = "testdata/openapi-released.yaml"

// breaks says what of a description that was released another one no longer keeps, "" where it keeps everything.
func breaks(t *testing.T, before, after string) string {
	t.Helper()
	// Cache and modules are those of this build; the tool has a module of its own.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "tool", "-modfile=../tools/oasdiff/go.mod", "oasdiff", "breaking",
		"--fail-on", "ERR", "--severity-levels", "../tools/oasdiff/levels.txt", "--color", "never", before, after)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	if !strings.Contains(string(out), "in API") && !strings.Contains(string(out), "[") {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func TestNothingThatWasReleasedBreaks(t *testing.T) {
	if broken := breaks(t, released, "openapi.yaml"); broken != "" {
		t.Errorf("callers of the last release would break (CONTRIBUTING.md, \"Release a description\"):\n%s", broken)
	}
}

// The comparison is worth something only if it sees what breaks callers, and lets pass what does not.
func TestWhatBreaksIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: ten comparisons")
	}
	text, err := os.ReadFile(released)
	must(t, err)
	for name, c := range map[string]struct {
		from, to string
		breaks   bool
	}{
		"a path is gone":                 {"\n  /api/v1/rules:\n", "\n  /api/v1/laws:\n", true},
		"a method is gone":               {"    delete:\n      summary: Ends the session", "    patch:\n      summary: Ends the session", true},
		"a parameter is gone":            {"        - {name: stuck, in: query, schema: {type: boolean}, description: \"only those whose next step is overdue, or is not\"}\n", "", true},
		"a parameter must be given":      {"{name: tenant, in: query, schema", "{name: tenant, in: query, required: true, schema", true},
		"a parameter takes less":         {"enum: [trace, debug, info, warn, error, fatal]", "enum: [info, warn, error, fatal]", true},
		"a limit is lower":               {"maximum: 1000, default: 100}, description: the newest so many", "maximum: 500, default: 100}, description: the newest so many", true},
		"an answer lacks a property":     {"required: [id, kinds, allocations, nodes, last_heard, layers]\n      properties:\n        id: {type: string}\n", "required: [kinds, allocations, nodes, last_heard, layers]\n      properties:\n", true},
		"an answer lacks what it may":    {"        tenant: {type: string}\n        provider: {type: string}\n        outcome", "        provider: {type: string}\n        outcome", true},
		"a property has another type":    {"examined: {type: integer}\n        orphans", "examined: {type: string}\n        orphans", true},
		"a body must have more":          {"required: [action]\n", "required: [action, reason]\n", true},
		"there is another path":          {"\n  /api/v1/rules:\n", "\n  /api/v1/laws:\n    get:\n      responses:\n        default: {$ref: \"#/components/responses/Problem\"}\n  /api/v1/rules:\n", false},
		"there is another parameter":     {"        - {name: owner, in: query", "        - {name: rack, in: query, schema: {type: string}}\n        - {name: owner, in: query", false},
		"an answer has another property": {"        tenant: {type: string}\n        provider: {type: string}\n", "        tenant: {type: string}\n        rack: {type: string}\n        provider: {type: string}\n", false},
		"other words":                    {"summary: Allocations, the most recently heard of first", "summary: Allocations", false},
	} {
		if !strings.Contains(string(text), c.from) {
			t.Errorf("%s: the description has no %q any more", name, c.from)
			continue
		}
		path := filepath.Join(t.TempDir(), "openapi.yaml")
		must(t, os.WriteFile(path, []byte(strings.Replace(string(text), c.from, c.to, 1)), 0o600))
		if have := breaks(t, released, path); (have != "") != c.breaks {
			t.Errorf("%s: %q", name, have)
		}
	}
}
