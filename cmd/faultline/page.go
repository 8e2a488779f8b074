package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/table"
	"github.com/faultline-io/faultline/internal/terminal"
)

// page is text for people: lines that are wrapped at the width of a terminal, and hold nothing that commands one.
type page struct {
	*look
	w      io.Writer
	screen terminal.Screen
	now    time.Time // as of which ages are told
}

func (l *look) page(w io.Writer, s terminal.Screen, now time.Time) *page {
	if s = s.With(l.colour); l.wide {
		s.Width = 0
	}
	return &page{look: l, w: w, screen: s, now: now}
}

func (p *page) format() table.Format {
	return table.Format{Width: p.screen.Width, Wide: p.wide, Colour: p.screen.Colour}
}

// line prints a text after an indent; further lines of it stand below its first.
func (p *page) line(indent, text string) { p.styled(indent, text, table.Plain) }

func (p *page) styled(indent, text string, style table.Style) {
	p.labelled(indent, text, style, table.Plain)
}

func (p *page) labelled(indent, text string, style, label table.Style) {
	width := 0
	if p.screen.Width > 0 {
		width = max(p.screen.Width-table.Width(indent), 20)
	}
	for i, line := range table.Wrap(table.Clean(text), width) {
		if i > 0 {
			indent, label = strings.Repeat(" ", table.Width(indent)), table.Plain
		}
		_, _ = fmt.Fprintln(p.w, strings.TrimRight(table.Paint(indent, label, p.screen.Colour)+table.Paint(line, style, p.screen.Colour), " "))
	}
}

// field prints what is known under a name; nothing where nothing is.
func (p *page) field(name, text string) { p.fieldStyled(name, text, table.Plain) }

func (p *page) fieldStyled(name, text string, style table.Style) {
	if text != "" {
		p.labelled(fmt.Sprintf("  %-13s", name), text, style, table.Faint)
	}
}

func (p *page) blank() { _, _ = fmt.Fprintln(p.w) }

// period says since when, and for how long by now.
func (p *page) period(at correlator.Time) string {
	if p.utc {
		return "since " + at.String()
	}
	return fmt.Sprintf("for %s, since %s", p.since(at, p.now), p.clock(at))
}

// lasted says since when and until when something was, until nil where it is still.
func (p *page) lasted(from correlator.Time, until *correlator.Time) string {
	if until == nil {
		return p.period(from) + ", still open"
	}
	return fmt.Sprintf("over: %s, from %s to %s", table.Age(time.Duration(*until-from)), p.clock(from), p.clock(*until))
}

// clock is a time as people write it.
func (p *page) clock(at correlator.Time) string {
	if p.utc {
		return at.String()
	}
	return time.Unix(0, int64(at)).UTC().Format("2006-01-02 15:04:05 UTC")
}

// state is what an allocation is in, and since when.
func (p *page) state(state *string, since *correlator.Time) string {
	switch {
	case state == nil:
		return "state unknown"
	case since == nil:
		return *state
	}
	return *state + " " + p.period(*since)
}
