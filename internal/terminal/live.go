package terminal

import (
	"fmt"
	"io"
	"strings"
)

// Sequences of a terminal: its second screen, which keeps the first as it was; lines that are too long end at the edge.
const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	home  = "\x1b[H"
	wipe  = "\x1b[K"
	below = "\x1b[J"
)

// Live draws over what it drew before, on the terminal's second screen.
type Live struct{ w io.Writer }

// Enter goes to the second screen. Whoever does so calls Leave, however it ends.
func Enter(w io.Writer) *Live {
	_, _ = io.WriteString(w, enter)
	return &Live{w}
}

// Leave gives the terminal back as it was.
func (l *Live) Leave() { _, _ = io.WriteString(l.w, leave) }

// Draw shows a text, whose lines fit the width already, and as many of them as the height takes.
func (l *Live) Draw(text string, height int) error {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if height > 1 && len(lines) > height {
		hidden := len(lines) - height + 1
		lines = append(lines[:height-1:height-1], fmt.Sprintf("… %d more lines", hidden))
	}
	// One write: a frame is never seen half drawn. Lines are wiped before they are written, as behind a line that fills the
	// width the cursor stands on its last cell; no line break at the end, which would scroll.
	last := len(lines) - 1
	frame := home
	for _, line := range lines[:last] {
		frame += wipe + line + "\r\n"
	}
	_, err := io.WriteString(l.w, frame+below+lines[last])
	return err
}
