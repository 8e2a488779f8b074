// Localize writes internal/localized/messages.tsv: what the messages of messages.txt are in other languages, as the
// catalogues of their programs have it (GNU gettext's .mo files, as packages of a distribution install them).
package main

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leonelquinteros/gotext"
)

//go:embed messages.txt
var messages string

func main() {
	log.SetFlags(0)
	locales := flag.String("locales", "/usr/share/locale", "folder of the catalogues")
	out := flag.String("o", "internal/localized/messages.tsv", "file to write")
	flag.Parse()
	if err := run(*locales, *out); err != nil {
		log.Fatal("localize: ", err)
	}
}

// row is one message in one language.
type row struct{ english, language, text string }

func run(locales, out string) error {
	rows := map[row]bool{}
	catalogue := ""
	lines := bufio.NewScanner(strings.NewReader(messages))
	for lines.Scan() {
		switch line := lines.Text(); {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			catalogue = strings.Trim(line, "[]")
		default:
			found, err := translations(locales, catalogue, line)
			if err != nil {
				return err
			}
			for _, r := range found {
				rows[r] = true
			}
		}
	}
	var all []row
	for r := range rows {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.english, b.english), cmp.Compare(a.language, b.language), cmp.Compare(a.text, b.text))
	})
	var b bytes.Buffer
	for _, r := range all {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", r.english, r.language, r.text)
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}

var catalogues = map[string]*gotext.Mo{}

// translations are a message in all languages that have it.
func translations(locales, catalogue, english string) ([]row, error) {
	files, err := filepath.Glob(filepath.Join(locales, "*", "LC_MESSAGES", catalogue+".mo"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no %s.mo below %s: install the package that has it (postgresql-15, libc-l10n)", catalogue, locales)
	}
	var out []row
	for _, file := range files {
		mo := catalogues[file]
		if mo == nil {
			mo = gotext.NewMo()
			mo.ParseFile(file)
			catalogues[file] = mo
		}
		language := filepath.Base(filepath.Dir(filepath.Dir(file)))
		t, there := mo.GetDomain().GetTranslations()[english]
		if !there || t.Get() == "" || t.Get() == english || strings.ContainsAny(t.Get(), "\t\n") {
			continue
		}
		out = append(out, row{english, language, t.Get()})
	}
	if len(out) == 0 {
		log.Printf("nobody translates %q of %s", english, catalogue)
	}
	return out, nil
}
