package access

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/config"
)

// look is how often the token file is looked at for changes, at most.
const look = time.Second

// file holds the static tokens: those of the configuration, and those of a file that may change while
// the process runs, so that a token can be given out or taken back without a restart.
type file struct {
	fixed []Token
	path  string

	mu      sync.Mutex
	known   directory
	looked  time.Time
	changed time.Time // the file's modification time, as read
	size    int64
	err     error // of the last look; the tokens that were known stay
}

type tokenList struct {
	Tokens []Token `yaml:"tokens"`
}

// Validate names the line that is wrong.
func (l tokenList) Validate() error {
	_, err := newDirectory(l.Tokens)
	return err
}

func openFile(fixed []Token, path string) (*file, error) {
	f := &file{fixed: fixed, path: path}
	if err := f.read(); err != nil {
		return nil, fmt.Errorf("access.token_file: %w", err)
	}
	return f, nil
}

// read reads the file if it has changed. Callers hold the lock or are alone.
func (f *file) read() error {
	tokens, changed, size := f.fixed, f.changed, f.size
	if f.path != "" {
		info, err := os.Stat(f.path)
		if err != nil {
			return err
		}
		if f.known != nil && info.ModTime().Equal(f.changed) && info.Size() == f.size {
			return nil
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		list, err := config.Parse(f.path, text, tokenList{})
		if err != nil {
			return err
		}
		tokens, changed, size = slices.Concat(f.fixed, list.Tokens), info.ModTime(), info.Size()
	}
	known, err := newDirectory(tokens)
	if err != nil {
		return err
	}
	f.known, f.changed, f.size = known, changed, size
	return nil
}

func (f *file) principal(digest string, now time.Time) (Principal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path != "" && now.Sub(f.looked) >= look {
		f.looked, f.err = now, f.read()
	}
	p, err := f.known.principal(digest, now)
	if d := DenialOf(err); d != nil && d.Reason == TokenUnknown && f.err != nil {
		d.Detail += "; the token file could not be read again: " + f.err.Error()
	}
	return p, err
}
