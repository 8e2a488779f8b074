package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
)

func TestExitStatuses(t *testing.T) {
	alone(t)
	answers := map[string]string{"/api/v1/stuck": givenText(t, "stuck"), "/api/v1/incidents": givenText(t, "incidents")}
	for _, name := range []string{"allocation", "contested", "undetermined", "none"} {
		answers["/api/v1/allocations/"+given[correlator.Allocation](t, name).ID] = givenText(t, name)
	}
	f := newFake(t, answers)
	run := func(args string) int {
		_, _, err := say(t, append(strings.Fields(args), "--server", f.url)...)
		status, _ := exitStatus(err)
		return status
	}
	for args, want := range map[string]int{
		"verdict a-7": 0, "verdict a-7 --exit-code": exitFound, "verdict a-8 --exit-code": exitContested, "verdict a-9 --exit-code": exitUndetermined,
		"verdict a-3 --exit-code": 0, "verdict a-7 --exit-code --json": exitFound, "verdict a-99 --exit-code": exitError,
		"stuck": 0, "stuck --exit-code": exitFound, "incidents --exit-code": exitFound, "verdict": exitError,
	} {
		if got := run(args); got != want {
			t.Errorf("%s: %d, want %d", args, got, want)
		}
	}
	f.set("/api/v1/stuck", `{"as_of":"2026-03-02T10:00:00Z","examined":1,"allocations":[],"orphans":[]}`)
	f.set("/api/v1/incidents", `{"as_of":"2026-03-02T10:00:00Z","examined":1,"incidents":[]}`)
	if run("stuck --exit-code") != 0 || run("incidents --exit-code") != 0 {
		t.Error("nothing is there, and the status says otherwise")
	}
	for err, want := range map[error]int{nil: 0, errRejected: exitRejected, errPending: exitPending, fmt.Errorf("%w: no", errRefused): exitRefused, errors.New("x"): exitError} {
		if got, _ := exitStatus(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

// Every status that is given stands in the help, once.
func TestExitCodesAreDocumented(t *testing.T) {
	out, _, err := say(t, "help", "exit-codes")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []int{0, exitError, exitRejected, exitPending, exitRefused, exitFound, exitContested, exitUndetermined, exitInterrupted} {
		if strings.Count(out, fmt.Sprintf("\n  %3d  ", code)) != 1 {
			t.Errorf("%d is not documented once:\n%s", code, out)
		}
	}
	if len(exitCodes) != 9 {
		t.Errorf("%d statuses", len(exitCodes))
	}
}

func TestInterruptedQuestionsExitWith130(t *testing.T) {
	alone(t)
	asked := make(chan struct{})
	away := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	defer away.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	go func() { <-asked; interrupt() }()
	cmd := command()
	cmd.SetArgs([]string{"list", "--server", away.URL})
	if status, silent := exitStatus(cmd.ExecuteContext(ctx)); status != 130 || !silent {
		t.Errorf("%d, silent %v", status, silent)
	}
}
