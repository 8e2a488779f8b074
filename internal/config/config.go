// Package config reads the YAML configuration of a binary: over its defaults, with ${env:NAME}
// expanded, and with unknown keys refused by file and line, so that a typo never passes for a setting.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Validator is what a configuration may implement; its messages name the YAML key.
type Validator interface{ Validate() error }

// Load reads the file at path over defaults. An empty path gives the defaults. The result is
// validated where T (or *T) is a Validator.
func Load[T any](path string, defaults T) (T, error) {
	if path == "" {
		return defaults, validate(&defaults)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return defaults, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(path, text, defaults)
}

// Parse is Load over text that is already in memory; name stands in messages.
func Parse[T any](name string, text []byte, defaults T) (T, error) {
	out := defaults
	expanded, err := expand(text)
	if err != nil {
		return defaults, fmt.Errorf("%s: %w", name, err)
	}
	d := yaml.NewDecoder(bytes.NewReader(expanded))
	d.KnownFields(true)
	if err := d.Decode(&out); err != nil && !errors.Is(err, io.EOF) {
		return defaults, located(name, err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return defaults, fmt.Errorf("%s: more than one YAML document", name)
	}
	if err := validate(&out); err != nil {
		return defaults, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

func validate[T any](c *T) error {
	if v, ok := any(c).(Validator); ok {
		return v.Validate()
	}
	if v, ok := any(*c).(Validator); ok {
		return v.Validate()
	}
	return nil
}

var (
	lineText    = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	unknownText = regexp.MustCompile(`^field (\S+) not found in type \S+$`)
	environment = regexp.MustCompile(`\$\{env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}`)
)

// located turns the decoder's messages into `file:line: what`, one a line.
func located(name string, err error) error {
	messages := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		messages = typed.Errors
	}
	all := make([]error, 0, len(messages))
	for _, m := range messages {
		line := ""
		if at := lineText.FindStringSubmatch(m); at != nil {
			line, m = ":"+at[1], at[2]
		}
		if key := unknownText.FindStringSubmatch(m); key != nil {
			m = fmt.Sprintf("unknown key %q", key[1])
		}
		all = append(all, fmt.Errorf("%s%s: %s", name, line, m))
	}
	return errors.Join(all...)
}

// expand replaces ${env:NAME} and ${env:NAME:-default}. A variable that is not set and has no default
// is an error with its line: an empty password is worse than no start.
func expand(text []byte) ([]byte, error) {
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			continue
		}
		var missing string
		lines[i] = environment.ReplaceAllFunc(line, func(m []byte) []byte {
			parts := environment.FindSubmatch(m)
			if value, ok := os.LookupEnv(string(parts[1])); ok {
				return []byte(value)
			}
			if !bytes.Contains(m, []byte(":-")) {
				missing = string(parts[1])
			}
			return parts[2]
		})
		if missing != "" {
			return nil, fmt.Errorf("line %d: environment variable %s is not set", i+1, missing)
		}
	}
	return bytes.Join(lines, []byte("\n")), nil
}
