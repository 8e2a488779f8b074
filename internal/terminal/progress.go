package terminal

import (
	"io"
	"time"

	"github.com/faultline-io/faultline/internal/table"
)

// patience is how long something may take before it is shown that it does.
const patience = time.Second

var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// Progress shows on a terminal, after a second, what is under way, until the function that it gives is called: then the
// line is gone. say is asked from another goroutine. Where w is no terminal, or a dumb one, nothing is shown.
func Progress(w io.Writer, say func() string) (done func()) {
	if !Draws(w) {
		return func() {}
	}
	s := Of(w)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		begun, shown := time.Now(), false
		wait := time.NewTimer(patience)
		defer wait.Stop()
		for n := 0; ; n++ {
			select {
			case <-end:
				if shown {
					_, _ = io.WriteString(w, "\r\x1b[K")
				}
				return
			case <-wait.C:
			}
			shown = true
			text := frames[n%len(frames)] + " " + table.Clean(say()) + ", " + table.Age(time.Since(begun))
			_, _ = io.WriteString(w, "\r"+table.Clip(text, s.Width-1)+"\x1b[K")
			wait.Reset(100 * time.Millisecond)
		}
	}()
	return func() { close(end); <-ended }
}
