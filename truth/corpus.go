package truth

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// Story is telemetry with a known truth.
type Story struct {
	Name    string
	Records []*record.Record
	Truth   map[string]Expected // by allocation
}

// Corpus is a set of stories that are counted together.
type Corpus struct {
	Name    string
	Stories []Story
}

// Open reads a folder: of scenario files, or of OTLP/JSON files with an expected.json.
func Open(folder string) (Corpus, error) {
	if _, err := os.Stat(filepath.Join(folder, "expected.json")); err == nil {
		return openFiles(folder)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Corpus{}, err
	}
	scenarios, err := story.Load(folder)
	if err != nil {
		return Corpus{}, err
	}
	c := Corpus{Name: filepath.Base(folder)}
	for _, s := range scenarios {
		c.Stories = append(c.Stories, Story{s.Name, s.Records, parseExpected(s.Verdict)})
	}
	return c, nil
}

// openFiles reads what expected.json names: for each story its file's name, the allocation and the truth.
func openFiles(folder string) (Corpus, error) {
	text, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	if err != nil {
		return Corpus{}, err
	}
	var list map[string]struct {
		Expected
		Story string `json:"story"`
		Main  string `json:"main"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return Corpus{}, fmt.Errorf("%s: %w", filepath.Join(folder, "expected.json"), err)
	}
	c := Corpus{Name: filepath.Base(folder)}
	for name, x := range list {
		s := Story{Name: name, Truth: map[string]Expected{x.Main: x.Expected}}
		r := otlpfile.Reader{
			Record: func(r *record.Record) { s.Records = append(s.Records, r) },
			Reject: func(r otlpfile.Rejection) { err = errors.Join(err, errors.New(r.String())) },
		}
		err := errors.Join(r.ReadFile(filepath.Join(folder, cmp.Or(x.Story, name)+".otlp.jsonl")), err)
		if err != nil {
			return Corpus{}, err
		}
		c.Stories = append(c.Stories, s)
	}
	slices.SortFunc(c.Stories, func(a, b Story) int { return cmp.Compare(a.Name, b.Name) })
	return c, nil
}
