package accesslog

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the answers into testdata")

// The files of testdata hold a line and, behind "=> ", what is read from it; "=> no" is a line that is
// not understood.
func TestCorpus(t *testing.T) {
	access := func(line string) (any, bool) { return Parse(line) }
	failure := func(line string) (any, bool) { return ParseError(line) }
	for file, parse := range map[string]func(string) (any, bool){
		"envoy": access, "clf": access, "haproxy": access, "alb": access, "error": failure,
	} {
		t.Run(file, func(t *testing.T) {
			path := "testdata/" + file + ".txt"
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for line := range strings.Lines(string(text)) {
				switch line = strings.TrimSuffix(line, "\n"); {
				case strings.HasPrefix(line, "=> "):
				case line == "", strings.HasPrefix(line, "#"):
					fmt.Fprintln(&got, line)
				default:
					fmt.Fprintf(&got, "%s\n=> %s\n", line, render(parse(line)))
				}
			}
			if *update {
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(text), got.String()); diff != "" && !*update {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// render prints the fields that hold something, in the order of the type.
func render(v any, ok bool) string {
	if !ok {
		return "no"
	}
	var out []string
	s := reflect.ValueOf(v)
	for i := range s.NumField() {
		name, f := s.Type().Field(i).Name, s.Field(i)
		if f.IsZero() || name == "Message" {
			continue
		}
		value := fmt.Sprint(f.Interface())
		if at, ok := f.Interface().(time.Time); ok {
			value = at.Format(time.RFC3339Nano)
		}
		if strings.Contains(value, " ") {
			value = fmt.Sprintf("%q", value)
		}
		out = append(out, name+"="+value)
	}
	return strings.Join(out, " ")
}
