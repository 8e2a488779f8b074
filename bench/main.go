// Command bench measures the identity processor beside the processors of the Collector's contrib
// distribution, on the same data in the same run. It is a module of its own so that the rivals' modules
// stay out of the product's.
package main

import (
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 5, "rounds; the best of each counts")
	length := flag.Duration("length", 300*time.Millisecond, "of one measurement")
	flag.Parse()
	if err := run(*rounds, *length); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, length time.Duration) error {
	all := cases()
	for i := range all {
		if err := all[i].open(); err != nil {
			return fmt.Errorf("%s: %w", all[i].name, err)
		}
	}
	for range rounds { // one after the other in every round, so that a busy moment hits all alike
		for i := range all {
			if err := all[i].measure(length); err != nil {
				return fmt.Errorf("%s: %w", all[i].name, err)
			}
		}
	}
	report(all)
	return scaling(length)
}

// report prints ratios first, then what they are made of.
func report(all []*contender) {
	by := map[string]figure{}
	for _, c := range all {
		by[c.name] = c.net()
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ratio of time\t\ttarget")
	for _, r := range []struct {
		ours, theirs, target string
	}{
		{stampsOne, attributes, "0.50"}, {stampsThree, attributes, "0.50"}, {stampsThree, transform, "0.33"}, {stampsOne, transform, "0.33"},
		{withoutLine, attributes, "0.50"}, {withoutLine, transform, "0.33"},
		{onResource, attributes, ""}, {openstack, transformBody, "0.50"},
	} {
		fmt.Fprintf(w, "%s / %s\t%.2f\t%s\n", r.ours, r.theirs, by[r.ours].ns/by[r.theirs].ns, r.target)
	}
	fmt.Fprintln(w, "\na record, net of copying the batch\tns\tallocations\tbytes")
	for _, c := range all {
		f := by[c.name]
		fmt.Fprintf(w, "%s\t%.0f\t%.2f\t%.0f\n", c.name, f.ns, f.allocs, f.bytes)
	}
	_ = w.Flush()
}
