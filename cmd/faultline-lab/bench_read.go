package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/storebench"
)

// benchRead is `faultline-lab bench read`.
type benchRead struct {
	dsn             string
	correlator      string // the program
	rate, live      int
	samples, rounds int
	readers         int

	base  string
	ids   []string // of about a hundred records
	large []string // of a thousand
	tasks []string // identifiers of other kinds
}

func benchReadCommand() *cobra.Command {
	b := benchRead{}
	cmd := &cobra.Command{
		Use:   "read",
		Short: "Ask a correlator over HTTP, at a filled store, beside a writer, and measure how long answers take",
		Long: `Starts a correlator of its own at a store that "bench store --fill-only" has filled, writes to the store at a rate, and asks.
Allocations are asked for once before they are measured: then what judging left behind is kept of them, as it is of every
allocation that a correlator has judged.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return b.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&b.dsn, "dsn", "", "the filled store, http://user:secret@host:port/database")
	f.StringVar(&b.correlator, "correlator", "bin/faultline-correlator", "the program")
	f.IntVar(&b.rate, "rate", 2000, "records a second that are written meanwhile")
	f.IntVar(&b.live, "live", 10_000, "allocations that they are of")
	f.IntVar(&b.samples, "samples", 40, "allocations to ask about")
	f.IntVar(&b.rounds, "rounds", 10, "times to ask about each")
	f.IntVar(&b.readers, "readers", 200, "readers at once, in the last step")
	return cmd
}

func (b *benchRead) run(ctx context.Context, out, notes io.Writer) (err error) {
	if b.dsn == "" {
		return errors.New("--dsn: names no store; fill one with faultline-lab bench store --fill-only --keep")
	}
	if err := b.draw(ctx); err != nil {
		return err
	}
	asked, err := startCorrelator(ctx, b.correlator, b.dsn)
	if err != nil {
		return err
	}
	defer asked.stop()
	b.base = asked.base
	_, _ = fmt.Fprintf(notes, "warming: %d allocations are judged once\n", len(b.ids)+len(b.large))
	for _, id := range slices.Concat(b.ids, b.large) {
		if _, err := b.get(ctx, "/allocations/"+id); err != nil {
			return err
		}
	}
	writing, done := context.WithCancel(ctx)
	var wrote int
	var slowest time.Duration
	var failed error
	var writer sync.WaitGroup
	writer.Go(func() {
		wrote, slowest, failed = storebench.Live{Rate: b.rate, Allocations: b.live}.Run(writing, b.dsn)
	})
	pause(ctx, 15*time.Second)
	begun := time.Now()
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "question\tn\tp50 ms\tp90 ms\tp99 ms\tgoal ms")
	for _, q := range b.questions() {
		if err := b.measure(ctx, t, q); err != nil {
			done()
			return errors.Join(err, t.Flush())
		}
	}
	err = b.crowd(ctx, t)
	took := time.Since(begun)
	done()
	writer.Wait()
	_, _ = fmt.Fprintf(t, "written meanwhile\t%d\tof %d\tslowest insert %d ms\t\t\n", wrote, int(took.Seconds())*b.rate, slowest.Milliseconds())
	return errors.Join(err, failed, t.Flush())
}

// draw chooses what is asked about, and adds allocations of a thousand records.
func (b *benchRead) draw(ctx context.Context) error {
	conn, err := schema.Open(ctx, b.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if b.large, err = storebench.Large(ctx, b.dsn, b.samples/2, 1000); err != nil {
		return err
	}
	for _, one := range []struct {
		statement string
		into      *[]string
	}{
		{"SELECT allocation_id FROM lifecycle WHERE state IN ('active', 'released', 'failed') AND NOT startsWith(allocation_id, 'large') AND NOT startsWith(allocation_id, 'live') " +
			"AND allocation_id IN (SELECT allocation_id FROM allocations GROUP BY allocation_id HAVING max(last_ingested) < now()) ORDER BY cityHash64(allocation_id) LIMIT {n:UInt32}", &b.ids},
		{"SELECT DISTINCT trace_id FROM events WHERE trace_id != '' AND minute % 97 = 5 LIMIT {n:UInt32}", &b.tasks},
	} {

		rows, err := conn.Query(ctx, strings.ReplaceAll(one.statement, "{n:UInt32}", strconv.Itoa(b.samples)))
		if err != nil {
			return err
		}
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			*one.into = append(*one.into, id)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	return nil
}

// start runs a correlator that judges what arrives, and nothing that was there before.
// readQuestion is one kind of question, and what its 50th and 99th of a hundred answers may take.
type readQuestion struct {
	name     string
	paths    []string
	p50, p99 int // milliseconds; 0 is no goal
}

func (b *benchRead) questions() []readQuestion {
	of := func(ids []string, format string) (out []string) {
		for _, id := range ids {
			out = append(out, fmt.Sprintf(format, url.PathEscape(id)))
		}
		return out
	}
	return []readQuestion{
		{"list", of(b.ids, "/allocations?limit=100&x=%s"), 0, 20},
		{"list, narrowed", of(b.ids, "/allocations?state=failed&text=expired&x=%s"), 0, 20},
		{"stuck", of(b.ids, "/stuck?x=%s"), 0, 20},
		{"incidents", of(b.ids, "/incidents?x=%s"), 0, 20},
		{"verdict, judged as it lives", of(b.living(), "/allocations/%s/verdict"), 0, 20},
		{"verdict, judged for a question", of(b.ids, "/allocations/%s/verdict"), 0, 20},
		{"allocation of 100", of(b.ids, "/allocations/%s"), 40, 80},
		{"allocation of 1,000", of(b.large, "/allocations/%s"), 40, 80},
		{"an identifier", of(b.tasks, "/resolve?id=%s"), 0, 20},
		{"lookup", of(b.tasks, "/lookup/%s"), 0, 0},
		{"as of", of(b.ids, "/allocations/%s?as_of="+time.Now().Add(-24*time.Hour).UTC().Format(time.RFC3339)), 0, 200},
		{"reasoning", of(b.ids, "/allocations/%s/reasoning"), 0, 200},
	}
}

// living are allocations that are being written.
func (b *benchRead) living() (ids []string) {
	for n := range b.samples {
		ids = append(ids, storebench.LiveID(n*max(1, b.live/b.samples)))
	}
	return ids
}

func (b *benchRead) measure(ctx context.Context, t io.Writer, q readQuestion) error {
	var took []time.Duration
	rounds := b.rounds
	if q.p99 >= 200 || q.p99 == 0 {
		rounds = max(1, b.rounds/5)
	}
	for range rounds {
		for _, path := range q.paths {
			one, err := b.get(ctx, path)
			if err != nil && !errors.Is(err, errUnknown) {
				return err
			}
			took = append(took, one)
		}
	}
	goal := ""
	if q.p50 > 0 {
		goal = fmt.Sprintf("%d / ", q.p50)
	}
	if q.p99 > 0 {
		goal += fmt.Sprint(q.p99)
	}
	report(t, q.name, took, goal)
	return nil
}

// crowd has many readers ask at once, each a mix of questions.
func (b *benchRead) crowd(ctx context.Context, t io.Writer) error {
	var mu sync.Mutex
	var took []time.Duration
	var failed []error
	var readers sync.WaitGroup
	questions := b.questions()[:7]
	for r := range b.readers {
		readers.Go(func() {
			for i := range 10 {
				q := questions[(r+i)%len(questions)]
				one, err := b.get(ctx, q.paths[(r*7+i)%len(q.paths)])
				mu.Lock()
				took = append(took, one)
				if err != nil {
					failed = append(failed, err)
				}
				mu.Unlock()
			}
		})
	}
	readers.Wait()
	report(t, fmt.Sprintf("%d readers at once (%d errors)", b.readers, len(failed)), took, "")
	if len(failed) > 0 {
		return failed[0]
	}
	return nil
}

func report(t io.Writer, name string, took []time.Duration, goal string) {
	slices.Sort(took)
	at := func(share float64) float64 {
		if len(took) == 0 {
			return 0
		}
		return float64(took[min(len(took)-1, int(share*float64(len(took))))].Microseconds()) / 1000
	}
	_, _ = fmt.Fprintf(t, "%s\t%d\t%.1f\t%.1f\t%.1f\t%s\n", name, len(took), at(0.5), at(0.9), at(0.99), goal)
}

// errUnknown says that nothing is known of what was asked for.
var errUnknown = errors.New("not known")

// get asks, reads the whole answer, and gives how long that took.
func (b *benchRead) get(ctx context.Context, path string) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+path, nil)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	answer, err := readers.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	took := time.Since(begun)
	switch {
	case err != nil:
		return took, err
	case answer.StatusCode == http.StatusNotFound:
		return took, errUnknown
	case answer.StatusCode != http.StatusOK:
		return took, fmt.Errorf("%s: %s %.200s", path, answer.Status, text)
	}
	return took, nil
}

// readers keep their connections.
var readers = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 500}}
