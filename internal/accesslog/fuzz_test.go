package accesslog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f.Add(strings.TrimSuffix(line, "\n"))
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		l, ok := Parse(line)
		switch {
		case !ok && l != (Line{}):
			t.Errorf("not understood, and yet %+v", l)
		case ok && (l.Proxy == "" || l.Status < 0 || l.Status > 999 || l.Duration < 0):
			t.Errorf("%+v", l)
		case !l.UpstreamKnown && (l.Upstream != "" || l.UpstreamStatus != 0):
			t.Errorf("a back end that the format doesn't tell: %+v", l)
		case l.UpstreamKnown && l.Upstream == "" && l.Flags == NoAnswer:
			t.Errorf("no answer from no back end: %+v", l)
		}
		e, ok := ParseError(line)
		if ok != (e.Cause != "") || ok && e.Proxy == "" || e.Flags != e.Cause.Flags() {
			t.Errorf("%v %+v", ok, e)
		}
	})
}
