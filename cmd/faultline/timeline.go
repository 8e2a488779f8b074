package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/table"
)

// idle is how long nobody says a word until that is worth a line.
const idle = 2 * time.Minute

// timelinePart narrows a timeline.
type timelinePart struct {
	layer string
	cited bool // only evidence and symptoms
}

func timelineCommand() *cobra.Command {
	q, part := question{}, timelinePart{}
	cmd := &cobra.Command{
		Use:   "timeline ID",
		Short: "What happened to an allocation, in every layer; ID may be any identifier that leads to it",
		Example: `  faultline timeline a-1
  faultline timeline gpu-17 --evidence
  faultline timeline a-1 --layer provider --wide`,
		Args:              oneID,
		ValidArgsFunction: completeIDs(&q),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := q.ask(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			kept := part.of(a)
			if len(kept) == 0 && len(a.Timeline) > 0 {
				note(cmd.ErrOrStderr(), part.nothing(a))
			}
			answer := api.Timeline{ID: a.ID, State: a.State, Since: a.Since, Timeline: kept}
			return q.show(cmd, q.now(), answer, func() view {
				return view{ids: []string{a.ID}, people: func(p *page) error {
					p.head(a)
					return p.timeline(kept, a)
				}}
			})
		},
	}
	q.flags(cmd)
	q.pastFlag(cmd)
	cmd.Flags().StringVar(&part.layer, "layer", "", "only what this layer says")
	cmd.Flags().BoolVar(&part.cited, "evidence", false, "only evidence and symptoms of the verdict")
	complete(cmd, "layer", layers()...)
	return cmd
}

// of gives the lines that are asked for.
func (t timelinePart) of(a correlator.Allocation) []correlator.Entry {
	if t == (timelinePart{}) {
		return a.Timeline
	}
	marks := marksOf(a.Verdict)
	kept := []correlator.Entry{}
	for _, e := range a.Timeline {
		if (t.layer == "" || e.Layer == t.layer) && (!t.cited || marks[e.Ref] != "") {
			kept = append(kept, e)
		}
	}
	return kept
}

// nothing says why nothing is left.
func (t timelinePart) nothing(a correlator.Allocation) string {
	if t.layer == "" {
		return "the verdict cites no record"
	}
	var there []string
	for _, e := range a.Timeline {
		if e.Layer != "" && !slices.Contains(there, e.Layer) {
			there = append(there, e.Layer)
		}
	}
	return fmt.Sprintf("nothing of layer %s; there is something of %s", t.layer, strings.Join(there, ", "))
}

// Marks of lines that a verdict cites.
const (
	markEvidence = "●"
	markSymptom  = "·"
	legend       = markEvidence + " evidence   " + markSymptom + " symptom"
)

func marksOf(v correlator.Verdict) map[string]string {
	marks := map[string]string{}
	for _, f := range v.Faults {
		for _, ref := range f.Symptoms {
			marks[ref] = markSymptom
		}
		for _, ref := range f.Evidence {
			marks[ref] = markEvidence
		}
	}
	return marks
}

// timeline prints lines of an allocation, with a word where nothing was said for long.
func (p *page) timeline(entries []correlator.Entry, a correlator.Allocation) error {
	t := &table.Table{Columns: []table.Column{
		{Name: "TIME"}, {Name: " "}, {Name: "LAYER"}, {Name: "SOURCE", Rank: 1}, {Name: "KIND", Rank: 3}, {Name: "SEVERITY", Rank: 2}, {Name: "NODE", Wide: true}, {Name: "VIA", Wide: true},
		{Name: "REF", Wide: true}, {Name: "WHAT", Free: true},
	}}
	marks, whole := marksOf(a.Verdict), len(entries) == len(a.Timeline)
	day, last, marked := "", int64(0), false
	for _, e := range entries {
		at := time.Unix(0, int64(e.Time)).UTC()
		if pause := time.Duration(int64(e.Time) - last); last != 0 && pause >= idle {
			t.Across(pauseText(pause, whole))
		}
		last = max(last, int64(e.Time))
		clock := at.Format("15:04:05.000")
		if d := at.Format("2006-01-02"); p.utc {
			clock = e.Time.String()
		} else if d != day {
			day = d
			t.Across(day)
		}
		mark := marks[e.Ref]
		marked = marked || mark != ""
		row := plain(clock, orText(mark, " "), e.Layer, e.Source, e.Kind, orText(telling(e.Severity), " "), e.IDs["node_id"], e.Via, e.Ref, e.Summary)
		row[1].Style, row[5].Style = markStyle(mark), severityStyle(e.Severity)
		if mark == markEvidence {
			row[9].Style = table.Strong
		}
		t.Add(row...)
	}
	if err := t.Write(p.w, p.format()); err != nil {
		return err
	}
	if marked {
		p.styled("", legend, table.Faint)
	}
	return nil
}

// pauseText says how long nothing was said, or how much later what is shown goes on.
func pauseText(pause time.Duration, whole bool) string {
	length := plural(int(pause.Hours()/24), "day")
	switch {
	case pause < 2*time.Hour:
		length = plural(int(pause.Minutes()), "minute")
	case pause < 48*time.Hour:
		length = plural(int(pause.Hours()), "hour")
	}
	if whole {
		return "… " + length + " without a word …"
	}
	return "… " + length + " later …"
}

// telling is a severity that is worth reading.
func telling(severity string) string {
	switch severity {
	case "info", "debug", "trace":
		return ""
	}
	return severity
}

func severityStyle(severity string) table.Style {
	switch severity {
	case "error", "fatal":
		return table.Bad
	case "warn":
		return table.Caution
	}
	return table.Plain
}

func markStyle(mark string) table.Style {
	if mark == markEvidence {
		return table.Bad
	}
	return table.Caution
}
