package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/storebench"
)

// benchStreams is `faultline-lab bench streams`.
type benchStreams struct {
	dsn, correlator string
	clients         int
	changes         storebench.Changes

	mu    sync.Mutex
	begun map[string]time.Time // when an allocation was written
	took  []time.Duration
}

func benchStreamsCommand() *cobra.Command {
	b := benchStreams{begun: map[string]time.Time{}}
	cmd := &cobra.Command{
		Use:   "streams",
		Short: "Have many clients follow a correlator on one core, and measure how long a change takes to reach them",
		Long: `Starts a correlator with one core (GOMAXPROCS=1) at a store, opens streams of events, and writes allocations that fail.
What is measured is the time from just before such a record is written to when each client has read what is said of its allocation.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return b.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&b.dsn, "dsn", "", "the store, http://user:secret@host:port/database")
	f.StringVar(&b.correlator, "correlator", "bin/faultline-correlator", "the program")
	f.IntVar(&b.clients, "clients", 1000, "streams that are open")
	f.IntVar(&b.changes.Count, "changes", 60, "allocations that fail")
	f.DurationVar(&b.changes.Every, "every", 500*time.Millisecond, "how often one does")
	return cmd
}

func (b *benchStreams) run(ctx context.Context, out io.Writer) error {
	if b.dsn == "" {
		return errors.New("--dsn: names no store")
	}
	asked, err := startCorrelator(ctx, b.correlator, b.dsn, "GOMAXPROCS=1")
	if err != nil {
		return err
	}
	following, done := context.WithCancel(ctx)
	defer done()
	var clients, ready sync.WaitGroup
	ended := make(chan error, b.clients)
	for range b.clients {
		ready.Add(1)
		clients.Go(func() {
			if err := b.follow(following, asked.base, sync.OnceFunc(ready.Done)); following.Err() == nil {
				ended <- err
			}
		})
	}
	ready.Wait()
	begun := time.Now()
	b.changes.Begin = func(allocation string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.begun[allocation] = time.Now()
	}
	err = b.changes.Run(ctx, b.dsn)
	pause(ctx, 5*time.Second)
	lasted := time.Since(begun)
	done()
	clients.Wait()
	cpu := asked.stop()
	close(ended)
	for one := range ended {
		err = errors.Join(err, fmt.Errorf("a stream ended: %w", one))
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "question\tn\tp50 ms\tp90 ms\tp99 ms\tgoal ms")
	report(t, fmt.Sprintf("a change reaches %d clients", b.clients), b.took, "1000")
	_, _ = fmt.Fprintf(t, "told of\t%d\tof %d changes to %d clients\n", len(b.took), len(b.begun), b.clients)
	_, _ = fmt.Fprintf(t, "the correlator's processor time\t%.2f\tof a core, over %.0f s\n", cpu.Seconds()/lasted.Seconds(), lasted.Seconds())
	return errors.Join(err, t.Flush())
}

// follow reads a stream until ctx ends, and notes when it is told of an allocation for the first time.
func (b *benchStreams) follow(ctx context.Context, base string, ready func()) error {
	defer ready()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/incidents/events", nil)
	if err != nil {
		return err
	}
	answer, err := readers.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	told := map[string]bool{}
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.HasPrefix(line, "event: caught_up") {
			ready()
		}
		_, after, named := strings.Cut(line, `"allocation_id":"`)
		if id, _, _ := strings.Cut(after, `"`); named && !told[id] {
			told[id] = true
			b.note(id)
		}
	}
}

func (b *benchStreams) note(allocation string) {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, ours := b.begun[allocation]; ours {
		b.took = append(b.took, now.Sub(at))
	}
}
