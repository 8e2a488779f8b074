package terminal_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/terminal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// console is a terminal of a size, and what was written to it so far.
func console(t *testing.T, width, height uint16) (tty *os.File, seen func() string) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(&all, master); close(ended) }()
	t.Cleanup(func() {
		_ = tty.Close()
		_ = master.Close()
		<-ended
	})
	return tty, func() string {
		_ = tty.Close() // the reader ends when the last writer has gone
		<-ended
		return all.String()
	}
}

func TestScreen(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	tty, _ := console(t, 101, 31)
	if s := terminal.Of(tty); s != (terminal.Screen{Terminal: true, Width: 101, Height: 31, Colour: true}) {
		t.Errorf("%+v", s)
	}
	for variable, value := range map[string]string{"NO_COLOR": "1", "TERM": "dumb"} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, value)
			if terminal.Draws(tty) != (variable == "NO_COLOR") {
				t.Error("what is drawn on")
			}
			if s := terminal.Of(tty); s.Colour || !s.With(terminal.Always).Colour || s.With(terminal.Never).Colour {
				t.Errorf("%+v", s)
			}
		})
	}
	if s := terminal.Of(&bytes.Buffer{}); s != (terminal.Screen{}) {
		t.Errorf("%+v", s)
	}
	put := terminal.Put(t.Context(), terminal.Screen{Width: 7})
	if s := terminal.From(put, tty); s.Width != 7 {
		t.Errorf("%+v", s)
	}
	var c terminal.Colour
	if c.Set("always") != nil || c.Set("sometimes") == nil {
		t.Error("values of --color")
	}
}

// What is done within a second is done in silence; what takes longer is shown, and wiped in the end.
func TestProgress(t *testing.T) {
	t.Setenv("TERM", "xterm")
	tty, seen := console(t, 40, 10)
	terminal.Progress(tty, func() string { return "quick" })()
	done := terminal.Progress(tty, func() string { return "reading \x1b[2J of a very long name that no line of forty takes" })
	time.Sleep(1300 * time.Millisecond)
	done()
	all := seen()
	if strings.Contains(all, "quick") || !strings.Contains(all, `reading \x1b[2J`) || !strings.HasSuffix(all, "\r\x1b[K") || strings.Contains(all, "forty") {
		t.Errorf("%q", all)
	}
	var pipe bytes.Buffer
	done = terminal.Progress(&pipe, func() string { return "x" })
	time.Sleep(1100 * time.Millisecond)
	if done(); pipe.Len() > 0 {
		t.Errorf("%q", pipe.String())
	}
}

func TestLive(t *testing.T) {
	var b bytes.Buffer
	l := terminal.Enter(&b)
	if err := l.Draw("one\ntwo\nthree\n", 2); err != nil {
		t.Fatal(err)
	}
	l.Leave()
	if want := "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[Kone\r\n\x1b[J… 2 more lines\x1b[?7h\x1b[?25h\x1b[?1049l"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}
