// Package terminal knows whether somebody looks at what is printed, and how wide and colourful that may be; it shows that
// something takes long (Progress), and redraws in place (Live). Into pipes and files none of it writes anything.
package terminal

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Screen is where an answer is shown. The zero value is a pipe.
type Screen struct {
	Terminal      bool
	Width, Height int // in cells; 0 where there is no terminal
	Colour        bool
}

// Sizes that are taken where a terminal doesn't tell its own.
const (
	usualWidth  = 80
	usualHeight = 24
)

// Of looks at where w leads. Colour is on for terminals, unless NO_COLOR is set or TERM is dumb.
func Of(w io.Writer) Screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Screen{}
	}
	s := Screen{Terminal: true, Colour: os.Getenv("NO_COLOR") == "" && !dumb()}
	var err error
	if s.Width, s.Height, err = term.GetSize(int(f.Fd())); err != nil || s.Width <= 0 || s.Height <= 0 {
		s.Width, s.Height = usualWidth, usualHeight
	}
	return s
}

func dumb() bool { return os.Getenv("TERM") == "dumb" }

// Draws says whether w leads to a terminal that can be drawn on: not a dumb one.
func Draws(w io.Writer) bool { return Of(w).Terminal && !dumb() }

// Colour is a flag: auto, always or never.
type Colour string

// Values of Colour.
const (
	Auto   Colour = "auto"
	Always Colour = "always"
	Never  Colour = "never"
)

// Set implements pflag.Value.
func (c *Colour) Set(text string) error {
	switch Colour(text) {
	case Auto, Always, Never:
		*c = Colour(text)
		return nil
	}
	return fmt.Errorf("%q is none of auto, always, never", text)
}

// String implements pflag.Value.
func (c *Colour) String() string { return string(*c) }

// Type implements pflag.Value.
func (c *Colour) Type() string { return "auto|always|never" }

// With is the screen with colours as somebody asked for them.
func (s Screen) With(c Colour) Screen {
	switch c {
	case Always:
		s.Colour = true
	case Never:
		s.Colour = false
	}
	return s
}

type screenKey struct{}

// Put gives a context in which From finds the screen, whatever is written to: for what is drawn into memory first.
func Put(ctx context.Context, s Screen) context.Context {
	return context.WithValue(ctx, screenKey{}, s)
}

// From is the screen of a context, else the one that w leads to.
func From(ctx context.Context, w io.Writer) Screen {
	if s, ok := ctx.Value(screenKey{}).(Screen); ok {
		return s
	}
	return Of(w)
}
