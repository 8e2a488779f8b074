// Command bench measures the identity processor beside the processors of the Collector's contrib
// distribution, and the exporter beside theirs, on the same data in the same run. It is a module of its own so that the rivals' modules
// stay out of the product's.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == asCollector {
		if err := runCollector(os.Args[2:]); err != nil {
			os.Exit(1) // it has said why
		}
		return
	}
	rounds := flag.Int("rounds", 5, "rounds; the best of each counts")
	length := flag.Duration("length", 300*time.Millisecond, "of one measurement")
	only := flag.String("only", "rivals,scaling,memory,churn", "what to measure; throughput, ingest, too")
	named := flag.String("contest", "", "of the rivals, only contests whose name holds this")
	bin := flag.String("bin", "../bin", "where the product's programs are, for throughput and ingest")
	rows := flag.Int("rows", 100_000, "records a round of ingest, about")
	nodes := flag.Int("nodes", 10_000, "among which the churned allocations take turns; few of them make long histories, which cost")
	flag.Parse()
	if err := run(*rounds, *length, strings.Split(*only, ","), *named, *bin, *nodes, *rows); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, length time.Duration, only []string, named, bin string, nodes, rows int) error {
	if slices.Contains(only, "rivals") {
		if err := rivals(rounds, length, named); err != nil {
			return err
		}
	}
	if slices.Contains(only, "scaling") {
		scaling(length)
	}
	if slices.Contains(only, "throughput") {
		if err := throughput(bin, rounds); err != nil {
			return err
		}
	}
	if slices.Contains(only, "ingest") {
		if err := ingest(bin, rounds, rows); err != nil {
			return err
		}
	}
	if slices.Contains(only, "memory") {
		memory()
	}
	if slices.Contains(only, "churn") {
		churn(nodes)
	}
	return nil
}

func rivals(rounds int, length time.Duration, named string) error {
	c, err := openCluster()
	if err != nil {
		return fmt.Errorf("stub of a cluster: %w", err)
	}
	defer c.close()
	for _, one := range contests() {
		if !strings.Contains(one.name, named) {
			continue
		}
		if err := one.hold(rounds, length); err != nil {
			return err
		}
		one.report()
	}
	return nil
}

// report prints ratios first, then what they are made of.
func (c contest) report() {
	by := map[string]figure{}
	for _, one := range c.contenders {
		by[one.name] = one.net()
	}
	fmt.Printf("\n%s\n", strings.ToUpper(c.name[:1])+c.name[1:])
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ratio of time\t\ttarget")
	for _, r := range c.ratios {
		fmt.Fprintf(w, "%s / %s\t%.2f\t%s\n", r.ours, r.theirs, by[r.ours].ns/by[r.theirs].ns, r.target)
	}
	fmt.Fprintln(w, "a record, net of copying the batch\tns\tallocations\tbytes")
	for _, one := range c.contenders {
		f := by[one.name]
		fmt.Fprintf(w, "%s\t%.1f\t%.3f\t%.0f\n", one.name, f.ns, f.allocs, f.bytes)
	}
	_ = w.Flush()
}
