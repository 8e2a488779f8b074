package chhttp

import (
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

// Options say what a Server serves and where it stops.
type Options struct {
	// Open opens one session; args are query settings, "--max_threads=2".
	Open func(args ...string) (*chdb.Conn, error)
	// User and Password are the only credentials.
	User, Password string
	// Database is current where a request names none.
	Database string

	// Sessions is how many statements run at once; Waiting is how many more may wait for one, each for Wait at most.
	Sessions, Waiting int
	Wait              time.Duration
	// Stall ends a request whose client neither sends nor reads for so long.
	Stall time.Duration
	// MaxStatement and MaxBody limit a statement's text and an INSERT's data, in bytes after decompression.
	MaxStatement, MaxBody int64
	// History is how many finished statements are remembered.
	History int

	// Observe is told of each finished statement; nil is fine.
	Observe func(Record)
	Log     *slog.Logger
	Now     func() time.Time
}

// withDefaults fills what is zero.
func (o Options) withDefaults() Options {
	or := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	or(&o.Sessions, 8)
	or(&o.Waiting, 256)
	or(&o.History, 1000)
	if o.Wait == 0 {
		o.Wait = 10 * time.Second
	}
	if o.Stall == 0 {
		o.Stall = time.Minute
	}
	if o.MaxStatement == 0 {
		o.MaxStatement = 16 << 20
	}
	if o.MaxBody == 0 {
		o.MaxBody = 1 << 30
	}
	if o.Database == "" {
		o.Database = "default"
	}
	if o.Observe == nil {
		o.Observe = func(Record) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
