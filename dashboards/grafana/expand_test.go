package grafana

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// window is the time range of a dashboard and what Grafana makes of it for one panel.
type window struct {
	from, to time.Time
	interval time.Duration
}

// values are what variables are set to; several where several are chosen.
type values map[string][]string

var reference = regexp.MustCompile(`\$\{(\w+)(?::(\w+))?\}|\$(\w+)`)

// variables puts values in, formatted as Grafana formats them (@grafana/scenes, formatRegistry). Without a format it is what a data source
// makes of it: for Prometheus and Loki, alternatives of a regular expression.
func (v values) variables(t testing.TB, text string) string {
	t.Helper()
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		m := reference.FindStringSubmatch(found)
		name := m[1] + m[3]
		if strings.HasPrefix(name, "__") {
			return found
		}
		chosen, ok := v[name]
		if !ok {
			t.Errorf("%s: nobody sets %s", text, name)
		}
		switch format := m[2]; format {
		case "sqlstring":
			return each(chosen, ",", func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" })
		case "doublequote":
			return each(chosen, ",", func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` })
		case "regex", "":
			if len(chosen) == 1 {
				return chosen[0]
			}
			return "(" + each(chosen, "|", regexp.QuoteMeta) + ")"
		case "percentencode":
			return each(chosen, ",", url.QueryEscape)
		case "raw":
			return strings.Join(chosen, ",")
		default:
			t.Errorf("%s: format %q is not known here", text, format)
			return ""
		}
	})
}

func each(list []string, between string, do func(string) string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = do(s)
	}
	return strings.Join(out, between)
}

var macro = regexp.MustCompile(`\$__(\w+)(?:\(([^()]*)\))?`)

// sql expands macros as grafana-clickhouse-datasource 4.20.0 does (pkg/macros/macros.go). One that is not among these fails.
func (w window) sql(t testing.TB, text string) string {
	t.Helper()
	seconds := func(at time.Time) string { return fmt.Sprintf("toDateTime(%d)", at.Unix()) }
	return macro.ReplaceAllStringFunc(text, func(found string) string {
		m := macro.FindStringSubmatch(found)
		switch m[1] {
		case "fromTime":
			return seconds(w.from)
		case "toTime":
			return seconds(w.to)
		case "timeFilter":
			return fmt.Sprintf("%s >= %s AND %s <= %s", m[2], seconds(w.from), m[2], seconds(w.to))
		case "timeInterval":
			return fmt.Sprintf("toStartOfInterval(toDateTime(%s), INTERVAL %d second)", m[2], int(max(w.interval.Seconds(), 1)))
		}
		t.Errorf("macro %s is not known here", found)
		return found
	})
}

// expr expands what Grafana's Prometheus and Loki data sources know.
func (w window) expr(t testing.TB, text string) string {
	t.Helper()
	return macro.ReplaceAllStringFunc(text, func(found string) string {
		seconds := func(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + "s" }
		switch found {
		case "$__rate_interval": // four times the scrape interval at least, which is 15 s where nothing is said
			return seconds(max(w.interval+15*time.Second, time.Minute))
		case "$__auto":
			return seconds(max(w.interval, time.Second))
		case "$__range":
			return seconds(w.to.Sub(w.from))
		}
		t.Errorf("macro %s is not known here", found)
		return found
	})
}

func TestExpansion(t *testing.T) {
	w := window{time.Unix(1000, 0), time.Unix(4600, 0), 20 * time.Second}
	v := values{"id": {"it's"}, "many": {"a", "b.c"}, "one": {"x"}}
	for text, want := range map[string]string{
		"id = ${id:sqlstring} AND x IN (${many:sqlstring})": "id = 'it''s' AND x IN ('a','b.c')",
		`a=~"$many", b=~"$one"`:                             `a=~"(a|b\.c)", b=~"x"`,
		"| x=${one:doublequote}":                            `| x="x"`,
	} {
		if have := v.variables(t, text); have != want {
			t.Errorf("%s: %s", text, have)
		}
	}
	for text, want := range map[string]string{
		"$__timeFilter(at)":   "at >= toDateTime(1000) AND at <= toDateTime(4600)",
		"$__timeInterval(at)": "toStartOfInterval(toDateTime(at), INTERVAL 20 second)",
		"f($__fromTime)":      "f(toDateTime(1000))",
	} {
		if have := w.sql(t, text); have != want {
			t.Errorf("%s: %s", text, have)
		}
	}
}
