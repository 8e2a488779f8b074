package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// Where the lab's program is not there, the run goes on without it and says so; where it is not wanted, nothing is said.
func TestNoLab(t *testing.T) {
	for wanted, want := range map[bool]string{true: "faultline: faultline-lab does not lie in /", false: ""} {
		c, out := defaultUpConfig(), &bytes.Buffer{}
		c.RunLab = wanted
		plan, err := c.askLab(t.Context(), "", out)
		if err != nil || len(plan.Processes) != 0 || !strings.HasPrefix(out.String(), want) || out.Len() > 0 != wanted {
			t.Errorf("wanted %v: %v, %v, %q", wanted, plan, err, out)
		}
	}
}

// Who asks for the lab as it was called is told how it is called.
func TestMovedCommands(t *testing.T) {
	for asked, want := range map[string]string{
		"lab inject cert_expired --for 30s": "faultline-lab inject cert_expired --for 30s",
		"lab":                               "faultline-lab run",
		"lab --config l.yaml":               "faultline-lab run --config l.yaml",
		"bench store --rows 10":             "faultline-lab bench store --rows 10",
	} {
		cmd := command()
		cmd.SetArgs(strings.Fields(asked))
		err := cmd.ExecuteContext(context.Background())
		if err == nil || err.Error() != "the lab is a program of its own: "+want {
			t.Errorf("%s: %v", asked, err)
		}
	}
}
