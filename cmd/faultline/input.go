package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/terminal"
)

// errRejected says that something was rejected; it has been reported already.
var errRejected = errors.New("some input was rejected")

// input is how files are read, in every command that reads them.
type input struct{ profile, asOf string }

func (in *input) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.profile, "profile", "", "built-in profile or profile file (default \"default\")")
	f.StringVar(&in.asOf, "as-of", "", "judge by what had been observed until this time (RFC 3339)")
}

// gather reads OTLP/JSON files into one dataset. What is rejected or refused is reported on stderr and
// counted in the statistics.
func (in *input) gather(files []string, stdin io.Reader, stderr io.Writer) (*correlator.Dataset, error) {
	p, err := profile.Load(in.profile)
	if err != nil {
		return nil, err
	}
	asOf := int64(0)
	if in.asOf != "" {
		t, err := time.Parse(time.RFC3339Nano, in.asOf)
		if err != nil {
			return nil, fmt.Errorf("--as-of: %q is no RFC 3339 time, such as 2026-03-02T10:04:11Z", in.asOf)
		}
		if t.Year() < 1900 || t.Year() > 2261 { // nanoseconds cannot count them: they would be some other time
			return nil, fmt.Errorf("--as-of: %q is not between the years 1900 and 2261", in.asOf)
		}
		asOf = t.UnixNano()
	}
	var records []*record.Record
	rejected, wipe := 0, ""
	if terminal.Draws(stderr) {
		wipe = "\r\x1b[K" // the line that says how far reading is
	}
	reader := otlpfile.Reader{
		Stdin:  stdin,
		Record: func(r *record.Record) { records = append(records, r) },
		Reject: func(r otlpfile.Rejection) {
			rejected++
			_, _ = io.WriteString(stderr, wipe)
			note(stderr, "rejected "+r.String())
		},
	}
	if err := readFiles(&reader, files, stderr); err != nil {
		return nil, err
	}
	defer terminal.Progress(stderr, func() string { return fmt.Sprintf("judging %d records", len(records)) })()
	g := correlator.NewDataset(records, nil, p, correlator.AsOf{Until: asOf})
	g.Stats.Rejected = rejected
	for reason, n := range g.Refused {
		note(stderr, fmt.Sprintf("%d statements about identity refused: %s", n, reason))
	}
	return g, nil
}

// readFiles reads one file after the other; a terminal is told how far that is.
func readFiles(reader *otlpfile.Reader, files []string, stderr io.Writer) error {
	var done, all atomic.Int64
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			all.Add(info.Size())
		}
	}
	reader.Read = func(n int) { done.Add(int64(n)) }
	defer terminal.Progress(stderr, func() string {
		if have, whole := done.Load(), all.Load(); have <= whole {
			return fmt.Sprintf("reading: %s of %s", size(uint64(have)), size(uint64(whole)))
		}
		return "reading: " + size(uint64(done.Load()))
	})()
	for _, file := range files {
		if err := reader.ReadFile(file); err != nil {
			return err
		}
	}
	return nil
}
