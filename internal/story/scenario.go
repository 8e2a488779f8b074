package story

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/faultline-io/faultline/internal/record"
)

// Scenario is one story file: the tale, its telemetry, and what an engineer would say of it.
type Scenario struct {
	Name    string
	Tale    string
	Records []*record.Record
	Verdict []string // lines of the verdict section, for whoever checks them
}

// Load reads every *.txtar of a folder, in order of their names.
func Load(folder string) ([]Scenario, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no scenarios in %s", folder)
	}
	var out []Scenario
	for _, f := range files {
		s, err := load(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func load(file string) (Scenario, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Scenario{}, err
	}
	archive := txtar.Parse(text)
	s := Scenario{Name: strings.TrimSuffix(filepath.Base(file), ".txtar"), Tale: strings.TrimSpace(string(archive.Comment))}
	for _, section := range archive.Files {
		switch section.Name {
		case "telemetry":
			if s.Records, err = Parse(string(section.Data)); err != nil {
				return s, err
			}
		case "verdict":
			s.Verdict = strings.Split(strings.TrimSpace(string(section.Data)), "\n")
		default:
			return s, fmt.Errorf("unknown section %s", section.Name)
		}
	}
	return s, nil
}
