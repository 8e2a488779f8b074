package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/table"
	"github.com/faultline-io/faultline/internal/terminal"
)

// leastEvery is how often a correlator may be asked: each question over all allocations costs it some work.
const leastEvery = 200 * time.Millisecond

// unwatchable are flags that make no sense here, and are refused.
var unwatchable = []string{"json", "output", "exit-code", "markdown", "history"}

func watchCommand() *cobra.Command {
	cmd := watched(listCommand())
	cmd.Use, cmd.Short = "watch", "Ask again and again: list, stuck, incidents or a verdict, redrawn in place; into a pipe, what changes"
	cmd.Long = `Asks every --every and shows the answer in place of the one before. Into a pipe it prints one line for whatever comes,
changes or goes. A correlator that goes away is said to be away, and asked again. Ctrl-C ends it.`
	cmd.Example = "  faultline watch\n  faultline watch stuck --layer provider\n  faultline watch verdict a-1 --every 10s | tee -a incident.log"
	cmd.Args = oneOfThese
	for _, one := range []*cobra.Command{listCommand(), stuckCommand(), incidentsCommand(), verdictCommand()} {
		one = watched(one)
		one.Long, one.Example = "", ""
		cmd.AddCommand(one)
	}
	return cmd
}

// watched makes a command ask again and again.
func watched(cmd *cobra.Command) *cobra.Command {
	every := 2 * time.Second
	cmd.Flags().DurationVar(&every, "every", every, "how often")
	for _, name := range unwatchable {
		if f := cmd.Flags().Lookup(name); f != nil {
			f.Hidden = true
		}
	}
	ask := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if every < leastEvery {
			return fmt.Errorf("--every: %s is less than %s", every, leastEvery)
		}
		for _, name := range unwatchable {
			if cmd.Flags().Lookup(name) != nil && cmd.Flags().Changed(name) {
				return fmt.Errorf("--%s: is not for watching", name)
			}
		}
		w := &watch{cmd: cmd, ask: func() error { return ask(cmd, args) }, every: every}
		return w.run(cmd.Context())
	}
	return cmd
}

// watch asks one question again and again.
type watch struct {
	cmd   *cobra.Command
	ask   func() error
	every time.Duration

	draws     bool // on a terminal; else changes are told
	screen    terminal.Screen
	answer    string    // the last one, for people
	answered  time.Time // when that was
	away      error     // why there is none since
	awaySince time.Time
	rows      map[string][]string // what was told of into a pipe; nil before the first answer
}

func (w *watch) run(ctx context.Context) error {
	out := w.cmd.OutOrStdout()
	defer w.cmd.SetContext(ctx)
	defer w.cmd.SetOut(out)
	quiet := context.WithValue(ctx, quietKey{}, true)
	var live *terminal.Live
	resized := make(chan os.Signal, 1)
	if w.draws = terminal.Draws(out); w.draws {
		signal.Notify(resized, syscall.SIGWINCH)
		defer signal.Stop(resized)
		live = terminal.Enter(out)
		defer live.Leave()
	}
	for asked := (time.Time{}); ctx.Err() == nil; {
		w.screen = terminal.Of(out).With(terminal.Colour(flagText(w.cmd, "color")))
		if time.Since(asked) >= w.every {
			asked = time.Now()
			if err := w.askOnce(quiet, out); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return nil
			}
		}
		if live != nil {
			if err := live.Draw(w.frame(), w.screen.Height); err != nil {
				return nil //nolint:nilerr // the terminal is gone
			}
		}
		next := time.NewTimer(w.every - time.Since(asked))
		select {
		case <-ctx.Done():
		case <-resized:
			asked = time.Time{} // the columns that fit are other ones
		case <-next.C:
		}
		next.Stop()
	}
	return nil
}

// askOnce asks and keeps the answer, or why there is none. The error is one that asking again does not mend.
func (w *watch) askOnce(ctx context.Context, out io.Writer) error {
	var text bytes.Buffer
	w.cmd.SetOut(&text)
	notes := w.cmd.ErrOrStderr()
	var seen *view
	w.cmd.SetErr(io.Discard)
	if w.draws {
		w.cmd.SetErr(&text)
		w.cmd.SetContext(terminal.Put(ctx, w.screen))
	} else {
		w.cmd.SetContext(watching(ctx, func(v view) { seen = &v }))
	}
	err := w.ask()
	w.cmd.SetErr(notes)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // somebody wants it to end
	}
	if status, _ := exitStatus(err); status == exitError {
		if !mends(err) && w.answered.IsZero() {
			return err
		}
		w.goneAway(err, out)
		return nil
	}
	cameBack := w.away != nil
	w.answer, w.answered, w.away = text.String(), time.Now(), nil
	if w.draws || seen == nil {
		return nil
	}
	if cameBack {
		w.say(out, "! the correlator answers again")
	}
	w.tell(out, seen)
	return nil
}

// goneAway remembers that nobody answers, and says so once into a pipe.
func (w *watch) goneAway(err error, out io.Writer) {
	if w.away == nil {
		w.awaySince = time.Now()
		if !w.draws {
			w.say(out, "! "+err.Error())
		}
	}
	w.away = err
}

// mends says whether an error may be over when the same is asked again.
func mends(err error) bool {
	var nobody unanswered
	var refused refusal
	return errors.As(err, &nobody) || errors.As(err, &refused) && refused.status >= http.StatusInternalServerError
}

// frame is the last answer below a line that says how old it is.
func (w *watch) frame() string {
	head := fmt.Sprintf("faultline %s   every %s   %s", strings.TrimPrefix(w.cmd.CommandPath(), "faultline "), w.every, w.answered.UTC().Format("15:04:05 UTC"))
	style := table.Faint
	if w.away != nil {
		style = table.Bad
		head = fmt.Sprintf("no answer for %s: %s", table.Age(time.Since(w.awaySince)), w.away)
		if !w.answered.IsZero() {
			head = fmt.Sprintf("no answer for %s, below is the one of %s: %s", table.Age(time.Since(w.awaySince)), w.answered.UTC().Format("15:04:05 UTC"), w.away)
		}
	}
	var b strings.Builder
	for _, line := range table.Wrap(table.Clean(head), w.screen.Width) {
		b.WriteString(table.Paint(line, style, w.screen.Colour) + "\n")
	}
	return b.String() + "\n" + w.answer
}

func (w *watch) say(out io.Writer, text string) {
	_, _ = fmt.Fprintf(out, "%s %s\n", time.Now().UTC().Format(time.RFC3339), table.Clean(text))
}

// tell says what came (+), changed (~) and went (-) since the last answer; the first time, all there is.
func (w *watch) tell(out io.Writer, v *view) {
	now := map[string][]string{}
	for _, cells := range v.table.Rows() {
		id := cells[0].Text
		row := make([]string, len(cells))
		var shown []string
		for i, c := range v.table.Columns {
			if c.Ages {
				continue
			}
			if row[i] = cells[i].Text; !c.Wide {
				shown = append(shown, row[i])
			}
		}
		before, known := w.rows[id]
		if now[id] = row; !known {
			w.say(out, "+ "+strings.Join(shown, "  "))
			continue
		}
		var changes []string
		for i, c := range v.table.Columns {
			if row[i] != before[i] {
				changes = append(changes, fmt.Sprintf("%s %s → %s", strings.ToLower(c.Name), before[i], row[i]))
			}
		}
		if len(changes) > 0 {
			w.say(out, "~ "+id+"  "+strings.Join(changes, ", "))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.rows)) {
		if now[id] == nil {
			w.say(out, "- "+id)
		}
	}
	w.rows = now
}
