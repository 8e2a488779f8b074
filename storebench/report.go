package storebench

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Run is one comparison: our tables, filled already, and rivals, which are made and filled from them.
type Run struct {
	Engine  *Engine
	Ours    string // database
	Rivals  []Contender
	Samples int
	Rounds  int
	Reader  Reader // reads as the product does; nil is not measured
	Said    func(format string, args ...any)
}

// Compare copies, measures and tells: sizes, then for each question what it took.
func (r Run) Compare(ctx context.Context, out io.Writer) error {
	all := append([]Contender{Ours(r.Ours)}, r.Rivals...)
	for _, c := range r.Rivals {
		begun := time.Now()
		if err := c.Copy(ctx, r.Engine, r.Ours); err != nil {
			return err
		}
		r.Said("%s: filled in %s", c.Name, time.Since(begun).Round(time.Second))
	}
	samples, err := Samples(ctx, r.Engine, r.Ours, r.Samples)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "tables\trecords\tparts\tbytes a record, all that finds it included\tlinks and lists beside")
	ours, _, err := all[0].Sizes(ctx, r.Engine)
	if err != nil {
		return err
	}
	for _, c := range all {
		records, aside, err := c.Sizes(ctx, r.Engine)
		if err != nil {
			return err
		}
		per := func(s Size) float64 { return float64(s.Bytes) / float64(ours.Rows) }
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t%.1f\n", c.Name, records.Rows, records.Parts, per(records), per(aside))
	}
	fmt.Fprintln(w, "\nquestion\ttables\trows returned\trows read\tbytes read\tp50\tp99\tp50 of rounds")
	for _, q := range Questions {
		for _, c := range all {
			f, err := c.Measure(ctx, r.Engine, q, samples, r.Rounds)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s–%s\n", q, c.Name, f.Returned, f.Rows, f.Bytes, ms(f.P50), ms(f.P99), ms(f.Fastest), ms(f.Slowest))
		}
		_ = w.Flush()
	}
	if r.Reader == nil {
		return w.Flush()
	}
	fmt.Fprintln(w, "\nas the product reads\trecords\tstatements\trows of evidence\trows of links and lists\tp50\tp50 of rounds")
	for _, q := range readings {
		f, err := r.Engine.MeasureReader(ctx, r.Ours, r.Reader, q.kind, q.sample, samples, r.Rounds)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%s–%s\n", q.question, f.Returned, f.Statements, f.Evidence, f.Lists, ms(f.P50), ms(f.Fastest), ms(f.Slowest))
		_ = w.Flush()
	}
	return w.Flush()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
