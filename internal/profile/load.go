package profile

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/config"
)

// Default is the profile that is used when none is named: the union of the platforms that are known.
const Default = "default"

//go:embed builtin/*.yaml
var builtin embed.FS

// Names lists the built-in profiles.
func Names() []string {
	entries, err := builtin.ReadDir("builtin")
	if err != nil {
		return nil // the folder is embedded
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return out
}

// Load reads a profile by name, or from a file; "" is the default one. A name without a dot or slash
// is a built-in profile. Errors name file and line.
func Load(nameOrFile string) (*Profile, error) { return load(nameOrFile, nil) }

func load(nameOrFile string, chain []string) (*Profile, error) {
	if nameOrFile == "" {
		nameOrFile = Default
	}
	if slices.Contains(chain, nameOrFile) {
		return nil, fmt.Errorf("profile %s extends itself: %s", nameOrFile, strings.Join(append(chain, nameOrFile), " → "))
	}
	if strings.ContainsAny(nameOrFile, "./"+string(filepath.Separator)) {
		text, err := os.ReadFile(nameOrFile)
		if err != nil {
			return nil, fmt.Errorf("read profile: %w", err)
		}
		return parse(nameOrFile, text, append(chain, nameOrFile))
	}
	text, err := builtin.ReadFile("builtin/" + nameOrFile + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("there is no built-in profile %q (there are: %s); a file needs its ending or a path, such as ./%s.yaml",
			nameOrFile, strings.Join(Names(), ", "), nameOrFile)
	}
	return parse(nameOrFile+".yaml", text, append(chain, nameOrFile))
}

// Parse reads a profile from text; file stands in messages.
func Parse(file string, text []byte) (*Profile, error) { return parse(file, text, []string{file}) }

func parse(file string, text []byte, chain []string) (*Profile, error) {
	d, err := config.Parse(file, text, document{})
	if err != nil {
		return nil, err
	}
	p := &Profile{}
	if d.Extends != "" {
		base, err := load(d.Extends, chain)
		if err != nil {
			return nil, fmt.Errorf("%s: extends: %w", file, err)
		}
		*p = *base
	}
	if err := d.apply(p); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(p.Layers) == 0 {
		return nil, fmt.Errorf("%s: layers: a profile needs at least one layer, or one to extend", file)
	}
	return p, nil
}
