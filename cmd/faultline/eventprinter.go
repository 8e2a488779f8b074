package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/faultline-io/faultline/correlator/query"
)

// eventPrinter writes records as they come: one JSON object a line, or a table for people.
type eventPrinter struct {
	encode *json.Encoder
	table  *tabwriter.Writer
	day    string
}

func newEventPrinter(w io.Writer, asJSON bool) *eventPrinter {
	p := &eventPrinter{encode: json.NewEncoder(w)}
	p.encode.SetEscapeHTML(false)
	if !asJSON {
		p.table = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	}
	return p
}

func (p *eventPrinter) print(e query.FullEvent) error {
	if p.table == nil {
		return p.encode.Encode(e)
	}
	at := time.Unix(0, int64(e.Time)).UTC()
	if day := at.Format("2006-01-02"); day != p.day {
		p.day = day
		if _, err := fmt.Fprintf(p.table, "  %s\n", day); err != nil {
			return err
		}
	}
	dash := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	_, err := fmt.Fprintf(p.table, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", at.Format("15:04:05.000"), dash(e.Layer), dash(e.Source), dash(e.Severity),
		dash(e.IDs["allocation_id"]), e.Ref, e.Summary)
	return err
}

// flush writes what the table holds back for its columns' widths.
func (p *eventPrinter) flush() error {
	if p.table == nil {
		return nil
	}
	return p.table.Flush()
}
