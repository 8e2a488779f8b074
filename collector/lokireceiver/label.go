package lokireceiver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	logproto "github.com/grafana/loki/pkg/push"
)

var errNoLabels = errors.New("a stream needs a label")

// parseLabels reads the labels of a stream as senders write them: {name="value", other="another"}, values quoted as in Go.
func parseLabels(text string) ([]logproto.LabelAdapter, error) {
	fail := func(what string) ([]logproto.LabelAdapter, error) {
		return nil, fmt.Errorf("couldn't parse labels %s: %s", short(text), what)
	}
	rest := strings.TrimSpace(text)
	if !strings.HasPrefix(rest, "{") {
		return fail(`no "{"`)
	}
	rest = rest[1:]
	var out []logproto.LabelAdapter
	for {
		rest = strings.TrimLeft(rest, " \t\r\n")
		if strings.HasPrefix(rest, "}") {
			break
		}
		if len(out) > 0 {
			if !strings.HasPrefix(rest, ",") {
				return fail(`no "," between two labels`)
			}
			if rest = strings.TrimLeft(rest[1:], " \t\r\n"); strings.HasPrefix(rest, "}") {
				break
			}
		}
		n := 0
		for n < len(rest) && inName(rest[n], n == 0) {
			n++
		}
		name := rest[:n]
		rest = strings.TrimLeft(rest[n:], " \t\r\n")
		if name == "" || !strings.HasPrefix(rest, "=") {
			return fail(`no name and "="`)
		}
		rest = strings.TrimLeft(rest[1:], " \t\r\n")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil || quoted[0] == '\'' {
			return fail("a value is not quoted")
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return fail("a value is not quoted")
		}
		out, rest = append(out, logproto.LabelAdapter{Name: name, Value: value}), rest[len(quoted):]
	}
	if strings.TrimSpace(rest[1:]) != "" {
		return fail(`there is more behind "}"`)
	}
	if len(out) == 0 {
		return nil, errNoLabels
	}
	return out, nil
}

func inName(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !first && c >= '0' && c <= '9'
}

// short is enough of a text for a log.
func short(text string) string {
	if len(text) <= 200 {
		return text
	}
	return text[:200] + "…"
}
