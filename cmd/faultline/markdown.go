package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/table"
)

// markdownEvidence bounds the records that are quoted in a channel unless all are asked for.
const markdownEvidence = 6

// writeMarkdown writes a verdict for an incident's channel: the owner in the heading, what to do, and the records that
// prove it. Times are absolute, as it is read later.
func writeMarkdown(w io.Writer, a correlator.Allocation, all bool) error {
	var b strings.Builder
	v := a.Verdict
	item := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "* **%s:** %s\n", name, text)
		}
	}
	fmt.Fprintf(&b, "### %s: %s\n\n", codeSpan(a.ID), headline(v))
	state := "unknown"
	if a.State != nil && a.Since != nil {
		state = codeSpan(*a.State) + " since " + a.Since.Milli()
	}
	item("State", state)
	if len(v.Faults) != 1 || v.Outcome != correlator.Attributed {
		item("Verdict", quoted(v.Explanation))
	}
	lines := map[string]correlator.Entry{}
	for _, e := range a.Timeline {
		lines[e.Ref] = e
	}
	for _, f := range v.Faults {
		if len(v.Faults) > 1 {
			fmt.Fprintf(&b, "\n**%s** (%s confidence)\n\n", quoted(f.Layer), f.Confidence)
		}
		runbook := f.Owner.Runbook
		if runbook != "" {
			runbook = "<" + strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20").Replace(table.Clean(runbook)) + ">"
		}
		item("Owner", strings.Join(nonEmpty(quoted(f.Layer), quoted(f.Owner.Team), quoted(f.Owner.Contact), runbook), " · "))
		item("Why", quoted(f.Summary))
		since := f.Onset.Milli() + ", still open"
		if f.ClearedAt != nil {
			since = f.Onset.Milli() + ", cleared " + f.ClearedAt.Milli()
		}
		item("Since", since)
		item("Next check", quoted(f.NextCheck))
		item("Safe action", quoted(f.SafeAction))
		refs := f.Evidence
		if !all && len(refs) > markdownEvidence {
			refs = refs[:markdownEvidence]
		}
		fmt.Fprintf(&b, "* **Evidence** (%d of %d, rule %s):\n", len(refs), len(f.Evidence), codeSpan(f.Rule))
		for _, ref := range refs {
			text := ref
			if e, ok := lines[ref]; ok {
				text = strings.Join(nonEmpty(time.Unix(0, int64(e.Time)).UTC().Format("2006-01-02T15:04:05.000Z"), e.Layer, e.Source, telling(e.Severity), e.Summary, e.Ref), "  ")
			}
			fmt.Fprintf(&b, "  * %s\n", codeSpan(text))
		}
	}
	for _, c := range v.Candidates {
		item("Suspect", quoted(c.Layer)+": "+quoted(c.Why))
	}
	for _, m := range v.Missing {
		item("Missing", quoted(m.Layer)+": "+quoted(m.Why))
	}
	fmt.Fprintf(&b, "\nAs of %s, by rules %s.\n", v.AsOf, quoted(v.RulesVersion))
	_, err := io.WriteString(w, b.String())
	return err
}

// headline says in a few words whose it is.
func headline(v correlator.Verdict) string {
	var owners []string
	for _, f := range v.Faults {
		owners = append(owners, "**"+quoted(f.Layer)+"**")
	}
	switch v.Outcome {
	case correlator.Attributed:
		if len(owners) == 1 {
			return owners[0] + " owns it (" + v.Faults[0].Confidence + " confidence)"
		}
		return strings.Join(owners, " and ") + " own it"
	case correlator.Contested:
		return strings.Join(owners, " or ") + ": contested"
	}
	return quoted(v.Outcome)
}

// quoted makes a text of anybody's plain text in Markdown: no markup, and nobody is called by it.
func quoted(s string) string {
	var b strings.Builder
	for _, r := range table.Clean(s) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '@':
			b.WriteString("@\u200b") // a blank without width: @channel wakes nobody
			continue
		case strings.ContainsRune("\\`*_[]>|~#!", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// codeSpan quotes a text as it is; its fence is longer than any that stands in it.
func codeSpan(s string) string {
	s = table.Clean(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}
