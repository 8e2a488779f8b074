package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAFaultCallsItsOwner is the short form of `faultline-lab alerts`: nothing fires beside healthy load, a fault's owner is called within the
// time that the goal allows, nobody else is, and the alert is resolved when the fault is healed.
func TestAFaultCallsItsOwner(t *testing.T) {
	for _, name := range []string{"prometheus", "prometheus-alertmanager"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("SKIPPED: no %s (Debian's package); that a fault calls its owner is NOT tested", name)
		}
	}
	bin := buildPrograms(t)
	begun := time.Now()
	out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "faultline-lab"), "alerts", "--quiet", "10s", "--faults", "cert_expired").CombinedOutput() //nolint:gosec // built by this test
	if err != nil || !strings.Contains(string(out), "1 of 1 called their owner") || !strings.Contains(string(out), "10s of healthy load: 0 alerts") {
		t.Errorf("%v after %s\n%s", err, time.Since(begun).Round(time.Second), out)
	}
	t.Logf("%s\n%s", time.Since(begun).Round(time.Second), out)
}
