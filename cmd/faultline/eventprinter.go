package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/table"
)

// eventPrinter writes records page by page: one JSON object a line, refs, or a table for people.
type eventPrinter struct {
	*page
	out    *bufio.Writer
	encode *json.Encoder
	table  *table.Table
	ages   bool // ages in place of times: records of all times, the newest first
	day    string
}

func newEventPrinter(w io.Writer, p *page, ages bool) *eventPrinter {
	out := bufio.NewWriter(w)
	e := &eventPrinter{page: p, out: out, encode: json.NewEncoder(out), ages: ages && !p.utc}
	e.encode.SetEscapeHTML(false)
	first := table.Column{Name: "TIME"}
	if e.ages {
		first = table.Column{Name: "AGE", Right: true}
	}
	e.table = &table.Table{Columns: []table.Column{
		first, {Name: "LAYER"}, {Name: "SOURCE", Rank: 1}, {Name: "SEVERITY", Rank: 2}, {Name: "ALLOCATION", Rank: 3}, {Name: "NODE", Wide: true}, {Name: "VIA", Wide: true},
		{Name: "REF", Rank: 4}, {Name: "WHAT", Free: true},
	}}
	return e
}

func (e *eventPrinter) print(r query.FullEvent) error {
	switch {
	case e.json:
		return e.encode.Encode(r)
	case e.ids:
		_, err := fmt.Fprintln(e.out, r.Ref)
		return err
	}
	at := time.Unix(0, int64(r.Time)).UTC()
	first := at.Format("15:04:05.000")
	switch day := at.Format("2006-01-02"); {
	case e.utc:
		first = r.Time.String()
	case e.ages:
		first = e.since(r.Time, e.now)
	case day != e.day:
		e.day = day
		e.table.Across(day)
	}
	row := plain(first, r.Layer, r.Source, r.Severity, r.IDs["allocation_id"], r.IDs["node_id"], r.Via, r.Ref, r.Summary)
	row[3].Style = severityStyle(r.Severity)
	e.table.Add(row...)
	return nil
}

// flush writes what is held back for the columns' widths.
func (e *eventPrinter) flush() error {
	if err := e.table.Write(e.out, e.format()); err != nil {
		return err
	}
	return e.out.Flush()
}
