package rules_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

// A verdict names the version of the rules that gave it, so rules that have changed have another version:
// raise correlator.RulesVersion (the day, and a number where it is not the day's first), then run this test
// with -update.
func TestTheVersionFollowsTheRules(t *testing.T) {
	files, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	slices.Sort(files)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || filepath.Ext(name) != ".go" && filepath.Ext(name) != ".yaml" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	now := correlator.RulesVersion + " " + hex.EncodeToString(sum.Sum(nil)) + "\n"
	const path = "testdata/version.txt"
	before, err := os.ReadFile(path)
	if string(before) == now {
		return
	}
	version, _, _ := strings.Cut(string(before), " ")
	switch {
	case !*update:
		t.Errorf("the rules have changed since version %q was noted (%v): raise correlator.RulesVersion, then run with -update", version, err)
	case version == correlator.RulesVersion:
		t.Errorf("the rules have changed and their version is %q as before", version)
	default:
		if err := os.WriteFile(path, []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
