package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
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
	rejected := 0
	reader := otlpfile.Reader{
		Stdin:  stdin,
		Record: func(r *record.Record) { records = append(records, r) },
		Reject: func(r otlpfile.Rejection) {
			rejected++
			_, _ = fmt.Fprintln(stderr, "faultline: rejected "+r.String())
		},
	}
	for _, file := range files {
		if err := reader.ReadFile(file); err != nil {
			return nil, err
		}
	}
	g := correlator.NewDataset(records, nil, p, correlator.AsOf{Until: asOf})
	g.Stats.Rejected = rejected
	for reason, n := range g.Refused {
		_, _ = fmt.Fprintf(stderr, "faultline: %d statements about identity refused: %s\n", n, reason)
	}
	return g, nil
}
