package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/faultline-io/faultline/lab/score"
)

func summary(r score.Result) string {
	if !r.OK() {
		return "MISS " + strings.Join(r.Misses, "; ")
	}
	return fmt.Sprintf("ok   %d of %d right within %s", r.Right, r.Affected, r.Slowest.Round(100*time.Millisecond))
}

func (s *scoring) print(out io.Writer, results []score.Result) error {
	missed := 0
	for _, r := range results {
		if !r.OK() {
			missed++
		}
	}
	if s.json {
		if err := printJSON(out, map[string]any{"faults": results, "missed": missed}); err != nil {
			return err
		}
	} else {
		w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
		fmt.Fprintln(w, "\nFAULT\tEXPECTED\tAFFECTED\tRIGHT\tEXACT\tSLOWEST\tHEALTHY\tALARMS\tDISTURBED\tNAMED BEFORE")
		healthy, alarms := 0, 0
		for _, r := range results {
			mark := ""
			if !r.OK() {
				mark = "  MISS"
			}
			healthy, alarms = healthy+r.Healthy, alarms+r.Alarms
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t%s%s\n", r.Fault, r.Expected, r.Affected, r.Right, r.Exact, r.Slowest.Round(100*time.Millisecond), r.Healthy, r.Alarms, r.Disturbed,
				dashed(strings.Join(r.Detours, " ")), mark)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(out, "%d of %d faults judged as they must be; %d false alarms among %d healthy allocations\n", len(results)-missed, len(results), alarms, healthy)
		for _, r := range results {
			for _, m := range r.Misses {
				fmt.Fprintf(out, "  %s: %s\n", r.Fault, m)
			}
			if len(r.Examples) > 0 {
				fmt.Fprintf(out, "  %s: see %s\n", r.Fault, strings.Join(r.Examples, ", "))
			}
		}
	}
	if missed > 0 {
		return errMissed
	}
	return nil
}

func dashed(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
