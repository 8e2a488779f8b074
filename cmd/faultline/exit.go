package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator"
)

// Exit statuses (docs/contract.md §6). Those of findings are given where --exit-code asks for them.
const (
	exitError        = 1
	exitRejected     = 3
	exitPending      = 4
	exitRefused      = 5
	exitFound        = 10
	exitContested    = 11
	exitUndetermined = 12
	exitInterrupted  = 130 // as of any program that SIGINT ends
)

// exitCodes lists every exit status and when it is given.
var exitCodes = []struct {
	code int
	when string
}{
	{0, "all went well; with --exit-code also: nothing was found, the verdict is none"},
	{exitError, "usage or I/O error, an unknown identifier, no answer; outranks all others"},
	{exitRejected, "some input was rejected, the answer is whole all the same; outranks 10 to 12"},
	{exitPending, "a dry run found something to do (migrate, store retention)"},
	{exitRefused, "what was asked for is not allowed (recover)"},
	{exitFound, "--exit-code: something is stuck, there are incidents, the verdict is attributed"},
	{exitContested, "--exit-code: the verdict is contested"},
	{exitUndetermined, "--exit-code: the verdict is undetermined"},
	{exitInterrupted, "interrupted (Ctrl-C) while an answer was waited for"},
}

// errInterrupted says that whoever asked does not want to know any more.
var errInterrupted = errors.New("interrupted")

// found is the exit status that says what was found; that has been printed.
type found int

func (f found) Error() string { return fmt.Sprintf("exit status %d", int(f)) }

// foundAny is the status of a list.
func foundAny(n int) error {
	if n == 0 {
		return nil
	}
	return found(exitFound)
}

// foundOutcome is the status of a verdict.
func foundOutcome(outcome string) error {
	switch outcome {
	case correlator.Attributed:
		return found(exitFound)
	case correlator.Contested:
		return found(exitContested)
	case correlator.Undetermined:
		return found(exitUndetermined)
	}
	return nil
}

// exitStatus is the status of an error, and whether there is anything left to say.
func exitStatus(err error) (status int, silent bool) {
	var f found
	switch {
	case err == nil:
		return 0, true
	case errors.Is(err, errRejected):
		return exitRejected, true
	case errors.Is(err, errPending):
		return exitPending, true
	case errors.As(err, &f):
		return int(f), true
	case errors.Is(err, errInterrupted):
		return exitInterrupted, true
	case errors.Is(err, errRefused):
		return exitRefused, false
	}
	return exitError, false
}

// exitCodesTopic is help, no command.
func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("What a script can tell from the exit status:\n\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "  %3d  %s\n", e.code, e.when)
	}
	b.WriteString("\n  faultline verdict ID --exit-code >/dev/null || page the owner\n  faultline incidents --open --exit-code")
	return &cobra.Command{Use: "exit-codes", Short: "Exit statuses, for scripts", Long: b.String()}
}
