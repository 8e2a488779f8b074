package schema

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

//go:embed migrations/*.sql
var files embed.FS

// Migration is one numbered statement. Its text never changes once it was released.
type Migration struct {
	Name   string // 0001_events.sql
	SQL    string
	SHA256 string // of the file, lower-case hex
}

var fileName = regexp.MustCompile(`^\d{4}_[a-z_]+\.sql$`)

// migrations lists all that this binary knows, in the order in which they are applied.
func migrations() ([]Migration, error) {
	folder, err := fs.Sub(files, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open embedded migrations: %w", err)
	}
	return read(folder)
}

func read(folder fs.FS) ([]Migration, error) {
	names, err := fs.Glob(folder, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	slices.Sort(names)
	out := make([]Migration, 0, len(names))
	last := ""
	for _, name := range names {
		if !fileName.MatchString(name) {
			return nil, fmt.Errorf("migration %s: name is not NNNN_noun.sql", name)
		}
		// Numbers may leave room, for a family of statements to grow in; none may be there twice.
		if name[:4] == last {
			return nil, fmt.Errorf("migration %s: number %s is there twice", name, last)
		}
		last = name[:4]
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("read migration %s: %w", name, err)
		}
		sum := sha256.Sum256(text)
		out = append(out, Migration{Name: name, SQL: strings.TrimSpace(string(text)), SHA256: hex.EncodeToString(sum[:])})
	}
	return out, nil
}
