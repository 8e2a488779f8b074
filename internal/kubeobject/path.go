package kubeobject

import (
	"errors"
	"fmt"
	"strings"
)

// path leads to one field. `status.phase` starts at the object, `.state` at the element that an event
// is about, `$jobs` at a list of the mapping, `@type` is the watch event, `@id.allocation_id` an
// identifier of the object, `@resource["k8s.cluster.name"]` an attribute of the record's resource.
// `["a.b/c"]` is a key with dots, `[type=Ready]` the last element with that field. `=text` is itself.
type path struct {
	root  string // "", ".", "$", "@type", "@id", "@resource", "="
	steps []step
}

type step struct {
	key          string
	field, value string // a filter where field is not empty
}

// guarded are words of fields that hold what must not leave the cluster. A mapping cannot name them.
var guarded = []string{
	"extra_vars", "extravars", "password", "passwd", "passphrase", "secret", "token", "credential", "kubeconfig", "privatekey",
	"userdata", "cloudinit", "templateparameters", "sshkey", "stringdata", "apikey",
}

func parsePath(text string) (path, error) {
	if literal, ok := strings.CutPrefix(text, "="); ok {
		return path{root: "=", steps: []step{{key: literal}}}, nil
	}
	low := strings.ToLower(text)
	for _, word := range guarded {
		if strings.Contains(low, word) {
			return path{}, fmt.Errorf("path %q: fields that may hold secrets (%s) are never read", text, word)
		}
	}
	p, rest := path{}, text
	switch {
	case text == "@type":
		return path{root: "@type"}, nil
	case strings.HasPrefix(rest, "@id."):
		p.root, rest = "@id", rest[len("@id."):]
	case strings.HasPrefix(rest, "@resource["):
		p.root, rest = "@resource", rest[len("@resource"):]
	case strings.HasPrefix(rest, "$"), strings.HasPrefix(rest, "."):
		p.root, rest = rest[:1], rest[1:]
	case strings.HasPrefix(rest, "@"):
		return path{}, fmt.Errorf("path %q: after @ stand type, id.NAME or resource[\"NAME\"]", text)
	}
	for first := true; rest != ""; first = false {
		s, left, err := nextStep(rest, first)
		if err != nil {
			return path{}, fmt.Errorf("path %q: %w", text, err)
		}
		p.steps, rest = append(p.steps, s), left
	}
	if len(p.steps) == 0 {
		return path{}, fmt.Errorf("path %q leads nowhere", text)
	}
	return p, nil
}

func nextStep(text string, first bool) (s step, rest string, err error) {
	if text[0] == '[' {
		if quoted, ok := strings.CutPrefix(text, `["`); ok {
			key, rest, ok := strings.Cut(quoted, `"]`)
			if !ok || key == "" {
				return s, "", errors.New(`[" without "]`)
			}
			return step{key: key}, rest, nil
		}
		inside, rest, ok := strings.Cut(text[1:], "]")
		field, value, eq := strings.Cut(inside, "=")
		if !ok || !eq || field == "" {
			return s, "", errors.New(`after [ stands "key"] or field=value]`)
		}
		return step{field: field, value: value}, rest, nil
	}
	if !first {
		if text[0] != '.' {
			return s, "", errors.New("a dot is missing")
		}
		text = text[1:]
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return s, "", errors.New("a key is empty")
	}
	return step{key: text[:end]}, text[end:], nil
}

// scene is all that paths can lead into.
type scene struct {
	*object
	lists    map[string]any // by name
	ids      map[string]string
	resource func(string) string
	item     any
}

func (p path) lookup(s *scene) any {
	var at any
	steps := p.steps
	switch p.root {
	case "=":
		return steps[0].key
	case "@type":
		return s.watch
	case "@id":
		return s.ids[steps[0].key]
	case "@resource":
		return s.resource(steps[0].key)
	case "$":
		at = s.lists
	case ".":
		at = s.item
	default:
		at = s.fields
	}
	for _, st := range steps {
		if at = st.into(at); at == nil {
			return nil
		}
	}
	return at
}

func (st step) into(at any) any {
	if st.field == "" {
		m, _ := at.(map[string]any)
		return m[st.key]
	}
	list, _ := at.([]any)
	for i := len(list) - 1; i >= 0; i-- {
		if m, ok := list[i].(map[string]any); ok && scalar(m[st.field]) == st.value {
			return m
		}
	}
	return nil
}
