package correlator_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/identity"
)

// cpu is what the whole process has used, the garbage collector's threads among it.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestVerdictSpeed prints what a verdict costs (make bench-verdict): processor time of the whole process, by
// step. It asserts nothing; a figure of a busy machine is no reason to fail.
func TestVerdictSpeed(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv("FAULTLINE_VERDICT_RUNS"))
	if err != nil {
		t.Skip("SKIPPED: set FAULTLINE_VERDICT_RUNS (make bench-verdict)")
	}
	p := defaultProfile(t)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "records\ttroubles\tdataset p50\tp95\tdecoded events → verdict p50\tp95\ttimeline p50\tp95\tcitations completed p50\tp95\t")
	for _, size := range []struct{ n, troubles int }{{500, 1}, {5000, 0}, {5000, 1}, {5000, 10}, {5000, 100}} {
		var gather, judge, tell, ground []time.Duration
		records := busy("a-1", size.n, size.troubles, 1)
		for range runs {
			runtime.GC()
			t0 := cpu()
			g := correlator.NewDataset(records, []identity.Link{}, p, correlator.AsOf{})
			t1 := cpu()
			runtime.GC() // what dataset left behind is no cost of the verdict
			t1b := cpu()
			c := g.Cases()[0]
			correlator.Judge(c, rules.All())
			t2 := cpu()
			c.WithTimeline(correlator.Judge(c, rules.All()))
			t3 := cpu()
			v := correlator.Judge(c, rules.All())
			t3b := cpu()
			correlator.Ground(c, rules.All(), v)
			t4 := cpu()
			gather, judge, tell, ground = append(gather, t1-t0), append(judge, t2-t1b), append(tell, t3-t2), append(ground, t4-t3b)
		}
		_, _ = fmt.Fprintf(table, "%d\t%d\t%s\t%s\t%s\t%s\t\n", size.n, size.troubles, spread(gather), spread(judge), spread(tell), spread(ground))
	}
	_ = table.Flush()
}

func spread(d []time.Duration) string {
	slices.Sort(d)
	return fmt.Sprintf("%.2f ms\t%.2f ms", d[len(d)/2].Seconds()*1e3, d[len(d)*95/100].Seconds()*1e3)
}

func BenchmarkNewDataset(b *testing.B) {
	p := defaultProfile(b)
	records := busy("a-1", 5000, 10, 1)
	b.ReportAllocs()
	for b.Loop() {
		correlator.NewDataset(records, nil, p, correlator.AsOf{})
	}
}

func BenchmarkJudge(b *testing.B) {
	p := defaultProfile(b)
	for _, troubles := range []int{0, 1, 10, 100} {
		b.Run(fmt.Sprintf("troubles=%d", troubles), func(b *testing.B) {
			records := busy("a-1", 5000, troubles, 1)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				g := correlator.NewDataset(records, nil, p, correlator.AsOf{})
				b.StartTimer()
				correlator.Judge(g.Cases()[0], rules.All())
			}
		})
	}
}
