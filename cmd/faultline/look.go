package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/near"
	"github.com/faultline-io/faultline/internal/table"
	"github.com/faultline-io/faultline/internal/terminal"
)

// look is how an answer is shown.
type look struct {
	json, wide, ids, utc bool
	colour               terminal.Colour
}

func (l *look) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&l.json, "json", false, "print the answer as JSON (-o json)")
	f.VarP(&output{look: l}, "output", "o", strings.Join(outputs, ", ")+": id prints one identifier a line, for pipes")
	cmd.MarkFlagsMutuallyExclusive("json", "output")
	l.peopleFlags(cmd)
	cmd.MarkFlagsMutuallyExclusive("wide", "output")
	complete(cmd, "output", outputs...)
}

// peopleFlags are those that matter to people alone.
func (l *look) peopleFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&l.wide, "wide", false, "every column, and nothing clipped or wrapped")
	f.BoolVar(&l.utc, "utc", false, "times instead of ages")
	l.colour = terminal.Auto
	f.Var(&l.colour, "color", "auto has colours on a terminal, unless NO_COLOR is set")
	complete(cmd, "color", string(terminal.Auto), string(terminal.Always), string(terminal.Never))
}

// output is the flag -o.
type output struct {
	look *look
	text string
}

var outputs = []string{"table", "wide", "json", "id"}

// Set implements pflag.Value.
func (o *output) Set(text string) error {
	l := o.look
	l.json, l.wide, l.ids = false, false, false
	switch o.text = text; text {
	case "table":
	case "wide":
		l.wide = true
	case "json":
		l.json = true
	case "id":
		l.ids = true
	default:
		return fmt.Errorf("%q is none of %s%s", text, strings.Join(outputs, ", "), didYouMean(near.Words(text, outputs, 1)))
	}
	return nil
}

// String implements pflag.Value.
func (o *output) String() string { return o.text }

// Type implements pflag.Value.
func (o *output) Type() string { return "format" }

// view is an answer as it is shown.
type view struct {
	ids   []string
	table *table.Table
	// people writes what stands in place of the table, where it is set; the table is then for whoever watches for changes.
	people func(*page) error
	foot   string // one line below the table
}

type viewKey struct{}

// watching gives a context in which views are not shown but handed to somebody who looks for changes.
func watching(ctx context.Context, take func(view)) context.Context {
	return context.WithValue(ctx, viewKey{}, take)
}

// show prints an answer: as JSON, as identifiers or for people, who see ages as of now.
func (l *look) show(cmd *cobra.Command, now time.Time, answer any, make func() view) error {
	if take, ok := cmd.Context().Value(viewKey{}).(func(view)); ok {
		take(make())
		return nil
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	err := l.write(out, terminal.From(cmd.Context(), cmd.OutOrStdout()), now, answer, make)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

func (l *look) write(out io.Writer, s terminal.Screen, now time.Time, answer any, make func() view) error {
	if l.json {
		return printJSON(out, answer)
	}
	v := make()
	if l.ids {
		said := map[string]bool{}
		for _, id := range v.ids {
			if said[id] {
				continue
			}
			if said[id] = true; s.Terminal {
				id = table.Clean(id)
			}
			_, _ = fmt.Fprintln(out, id)
		}
		return nil
	}
	p := l.page(out, s, now)
	if v.people != nil {
		return v.people(p)
	}
	if err := v.table.Write(out, p.format()); err != nil {
		return err
	}
	if v.foot != "" {
		p.line("", v.foot)
	}
	return nil
}

// since is how long ago something was, or when.
func (l *look) since(at correlator.Time, now time.Time) string {
	if l.utc {
		return at.String()
	}
	return table.Age(now.Sub(time.Unix(0, int64(at))))
}

// sinceIf is since, "" where it never was.
func (l *look) sinceIf(at *correlator.Time, now time.Time) string {
	if at == nil {
		return ""
	}
	return l.since(*at, now)
}

// plain makes cells of texts.
func plain(texts ...string) []table.Cell {
	out := make([]table.Cell, len(texts))
	for i, text := range texts {
		out[i].Text = text
	}
	return out
}
