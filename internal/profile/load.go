package profile

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/config"
)

// Default is the profile that is used when none is named: the union of the platforms that are known.
const Default = "default"

// common is the part that the platforms share; it is no profile to be named.
const common = "common"

//go:embed builtin/*.yaml builtin/parts/*.yaml
var builtin embed.FS

// Names lists the built-in profiles.
func Names() []string {
	entries, err := builtin.ReadDir("builtin")
	if err != nil {
		return nil // the folder is embedded
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		out = append(out, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return out
}

// Load reads a profile by name, or from a file; "" is the default one. A name without a dot or slash
// is a built-in profile. Errors name file and line.
func Load(nameOrFile string) (*Profile, error) {
	p := &Profile{}
	l := &loader{done: map[string]bool{}}
	if err := l.load(p, nameOrFile); err != nil {
		return nil, err
	}
	p.prepare()
	return p, nil
}

// Parse reads a profile from text; file stands in messages.
func Parse(file string, text []byte) (*Profile, error) {
	p := &Profile{}
	l := &loader{done: map[string]bool{}, chain: []string{file}}
	if err := l.lay(p, file, text); err != nil {
		return nil, err
	}
	p.prepare()
	return p, nil
}

// loader lays documents over one profile, each after those that it extends and each once: what two
// platforms have in common does not undo what the first of them said.
type loader struct {
	chain []string
	done  map[string]bool
}

func (l *loader) load(p *Profile, nameOrFile string) error {
	if nameOrFile == "" {
		nameOrFile = Default
	}
	if slices.Contains(l.chain, nameOrFile) {
		return fmt.Errorf("profile %s extends itself: %s", nameOrFile, strings.Join(append(l.chain, nameOrFile), " → "))
	}
	if l.done[nameOrFile] {
		return nil
	}
	l.chain = append(l.chain, nameOrFile)
	defer func() {
		l.chain = l.chain[:len(l.chain)-1]
		l.done[nameOrFile] = true
	}()
	if strings.ContainsAny(nameOrFile, "./"+string(filepath.Separator)) {
		text, err := os.ReadFile(nameOrFile)
		if err != nil {
			return fmt.Errorf("read profile: %w", err)
		}
		return l.lay(p, nameOrFile, text)
	}
	text, err := builtin.ReadFile("builtin/" + nameOrFile + ".yaml")
	if nameOrFile == common && len(l.chain) > 1 {
		text, err = builtin.ReadFile("builtin/parts/" + common + ".yaml")
	}
	if err != nil {
		return fmt.Errorf("there is no built-in profile %q (there are: %s); a file needs its ending or a path, such as ./%s.yaml",
			nameOrFile, strings.Join(Names(), ", "), nameOrFile)
	}
	return l.lay(p, nameOrFile+".yaml", text)
}

// lay reads a document and lays it over what it extends.
func (l *loader) lay(p *Profile, file string, text []byte) error {
	d, err := config.Parse(file, text, document{})
	if err != nil {
		return err
	}
	for _, base := range d.Extends {
		if err := l.load(p, base); err != nil {
			return fmt.Errorf("%s: extends: %w", at(file, text, "extends"), err)
		}
	}
	var problems []error
	d.apply(p, func(keys []any, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: %s: %w", at(file, text, keys...), keyText(keys), fmt.Errorf(format, args...)))
	})
	if len(p.Layers) == 0 {
		problems = append(problems, fmt.Errorf("%s: layers: a profile needs at least one layer, or one to extend", file))
	}
	slices.SortStableFunc(problems, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}
