package kubeobject

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/record"
)

// Expression says where an attribute's value comes from: one of path, value and text.
type Expression struct {
	// Path: the first of these that holds text, a number or a truth value.
	Path Words `yaml:"path"`
	// Value is itself.
	Value string `yaml:"value"`
	// Text holds paths in braces, alternatives parted by |: "aap/{.cluster|=default}/job/{.jobID|.id}".
	// It is nothing where one of them is.
	Text string `yaml:"text"`
	// Cut keeps the first group of an expression; nothing where it does not match.
	Cut string `yaml:"cut"`
	// Map turns what was found into another value; a key may end in *. What it lacks is nothing.
	Map map[string]string `yaml:"map"`
}

// Words are one text or a list of them.
type Words []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (w *Words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = Words{n.Value}
		return nil
	}
	return n.Decode((*[]string)(w))
}

// Condition holds where what its path leads to is as it says.
type Condition struct {
	Path    Words `yaml:"path"`
	In      Words `yaml:"in"`      // one of these; each may end in *
	NotIn   Words `yaml:"not_in"`  // none of these; nothing is none of them
	Present *bool `yaml:"present"` // there at all, lists and objects too
	// Any holds where one of these does; it stands alone.
	Any []Condition `yaml:"any"`
}

type expression struct {
	parts []part
	cut   *regexp.Regexp
	turn  map[string]string
}

// part is text, or alternatives of paths where there are any.
type part struct {
	text  string
	paths []path
}

func (e Expression) compile() (expression, error) {
	given := 0
	for _, is := range []bool{len(e.Path) > 0, e.Value != "", e.Text != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		return expression{}, errors.New("needs one of path, value and text")
	}
	out := expression{turn: e.Map}
	if e.Cut != "" {
		var err error
		if out.cut, err = regexp.Compile(e.Cut); err != nil {
			return out, err
		}
		if out.cut.NumSubexp() == 0 {
			return out, fmt.Errorf("cut %q has no group to keep", e.Cut)
		}
	}
	switch {
	case e.Value != "":
		out.parts = []part{{text: e.Value}}
	case e.Text != "":
		return out, out.template(e.Text)
	default:
		paths, err := parsePaths(e.Path)
		if err != nil {
			return out, err
		}
		out.parts = []part{{paths: paths}}
	}
	return out, nil
}

func (e *expression) template(text string) error {
	for text != "" {
		before, after, found := strings.Cut(text, "{")
		if before != "" {
			e.parts = append(e.parts, part{text: before})
		}
		if !found {
			return nil
		}
		inside, rest, closed := strings.Cut(after, "}")
		if !closed {
			return errors.New("text: { without }")
		}
		paths, err := parsePaths(strings.Split(inside, "|"))
		if err != nil {
			return err
		}
		e.parts, text = append(e.parts, part{paths: paths}), rest
	}
	return nil
}

func parsePaths(texts []string) ([]path, error) {
	var out []path
	for _, text := range texts {
		p, err := parsePath(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, errors.New("names no path")
	}
	return out, nil
}

func first(paths []path, s *scene) string {
	for _, p := range paths {
		if v := scalar(p.lookup(s)); v != "" {
			return v
		}
	}
	return ""
}

// eval is the value, "" where there is none.
func (e *expression) eval(s *scene) string {
	var b strings.Builder
	for _, p := range e.parts {
		v := p.text
		if p.paths != nil {
			v = first(p.paths, s)
		}
		if v == "" {
			return ""
		}
		b.WriteString(v)
	}
	v := b.String()
	if e.cut != nil {
		m := e.cut.FindStringSubmatch(v)
		if m == nil {
			return ""
		}
		v = m[1]
	}
	if e.turn != nil {
		v = turned(e.turn, v)
	}
	return v
}

// turned looks for the value itself, then for the longest beginning of it.
func turned(m map[string]string, v string) string {
	if out, ok := m[v]; ok {
		return out
	}
	best, length := "", -1
	for k, out := range m {
		if prefix, ok := strings.CutSuffix(k, "*"); ok && strings.HasPrefix(v, prefix) && len(prefix) > length {
			best, length = out, len(prefix)
		}
	}
	return best
}

type condition struct {
	paths     []path
	in, notIn []string
	present   *bool
	any       []condition
}

func (c Condition) compile() (condition, error) {
	if len(c.Any) > 0 {
		var out condition
		for _, one := range c.Any {
			o, err := one.compile()
			if err != nil {
				return out, err
			}
			out.any = append(out.any, o)
		}
		return out, nil
	}
	paths, err := parsePaths(c.Path)
	if err != nil {
		return condition{}, err
	}
	if len(c.In) == 0 && len(c.NotIn) == 0 && c.Present == nil {
		return condition{}, fmt.Errorf("condition on %s: says neither in, not_in nor present", strings.Join(c.Path, ", "))
	}
	return condition{paths: paths, in: c.In, notIn: c.NotIn, present: c.Present}, nil
}

func (c *condition) holds(s *scene) bool {
	if len(c.any) > 0 {
		return slices.ContainsFunc(c.any, func(o condition) bool { return o.holds(s) })
	}
	if c.present != nil {
		there := false
		for _, p := range c.paths {
			v := p.lookup(s)
			there = there || v != nil && v != ""
		}
		if there != *c.present {
			return false
		}
	}
	v := first(c.paths, s)
	return (len(c.in) == 0 || among(c.in, v)) && (len(c.notIn) == 0 || !among(c.notIn, v))
}

func among(list []string, v string) bool {
	for _, l := range list {
		if prefix, ok := strings.CutSuffix(l, "*"); l == v || ok && strings.HasPrefix(v, prefix) {
			return true
		}
	}
	return false
}

// shorten marks that text was cut off.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return record.Truncate(s, n) + "…"
}
