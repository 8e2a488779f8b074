package grafana

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// chosen are values of the variables that stand for a place or an identifier; All where a dashboard offers it.
func chosen() values {
	return values{
		"environment": {".*"}, "cluster": {".*"}, "service": {".+"}, "page": {"https://faultline.example"}, "operation": {"provision"},
		"provider": {"aap", "eda"}, "layer": {"cert", "provider", "node", "projection", "workflow", "node_agent", "undetermined"},
		"node_id": {node}, "node_instance_id": {reimaged},
	}
}

// TestQueries puts every query of every panel, annotation and variable to the engine that it is for, with data there, and wants rows of each.
func TestQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: a store, a correlator and a Prometheus; the queries of the dashboards are NOT tested")
	}
	t.Parallel() // it waits most of the time
	p := newPlatform(t)
	metrics := startPrometheus(t, map[string]*httptest.Server{"faultline-correlator": p.Server, "faultline-collector": others(t)})
	p.settled(t)
	if metrics != nil { // what changes before the first scrape rises from nowhere: no rate shows it
		eventually(t, 30*time.Second, func() string {
			if found, problem := metrics.ask(t, "faultline_fleet_verdict_changes_total", false); len(found) == 0 {
				return "nothing is scraped yet " + problem
			}
			return ""
		})
	}
	p.scenario(t, lateStory, 5*time.Second)
	for _, tale := range moves {
		time.Sleep(1200 * time.Millisecond) // the overview looks once a second, Prometheus twice
		p.tell(t, tale, 0)
	}
	p.settled(t)
	var nothing any
	p.get(t, "/api/v1/layers", &nothing)
	t.Run("PromQL", func(t *testing.T) { promQL(t, metrics) })
	t.Run("the API says the same", func(t *testing.T) { sameAsTheAPI(t, p, metrics) })
	t.Run("SQL", func(t *testing.T) { sql(t, p) })
	t.Run("LogQL", func(t *testing.T) { logQL(t, p.logs) })
}

// noPrometheus is why expressions are not tested.
const noPrometheus = "SKIPPED: no prometheus (Debian's package of that name); the PromQL of the dashboards is NOT tested"

// promQL waits until every expression has a series with a value: rules are evaluated and counters rise meanwhile.
func promQL(t *testing.T, m *metricsStore) {
	if m == nil {
		skip(t, noPrometheus)
	}
	w := window{time.Now().Add(-6 * time.Hour), time.Now(), 15 * time.Second}
	v := chosen()
	v["layer"], v["provider"] = []string{".*"}, []string{".*"}
	list := queries(t, prometheusType)
	eventually(t, 30*time.Second, func() string {
		var silent []string
		for _, q := range list {
			found, problem := m.ask(t, w.expr(t, v.variables(t, q.Expr)), q.Range || q.panel[:1] == "a")
			if problem != "" {
				t.Fatalf("%s: %s: %s\n%s", q.dashboard, q.panel, problem, q.Expr)
			}
			if len(found) == 0 {
				silent = append(silent, fmt.Sprintf("%s: %s: no value: %s", q.dashboard, q.panel, q.Expr))
			}
		}
		return strings.Join(silent, "\n")
	})
	for name, d := range all(t) {
		for _, asks := range d.Templating.List {
			if asks.Datasource == nil || asks.Datasource.Type != prometheusType {
				continue
			}
			var variable struct{ Query string }
			must(t, json.Unmarshal(asks.Query, &variable))
			label := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(variable.Query)
			if label == nil {
				t.Errorf("%s: %s: %s", name, asks.Name, variable.Query)
				continue
			}
			found, problem := m.ask(t, v.variables(t, label[1]), false)
			if problem != "" || !slices.ContainsFunc(found, func(s one) bool { return s.labels[label[2]] != "" }) {
				t.Errorf("%s: the variable %s has no values: %s", name, asks.Name, problem)
			}
		}
	}
	t.Logf("%d expressions", len(list))
}

// statements are the queries of the store, those of variables too.
func statements(t *testing.T) []asked {
	t.Helper()
	list := queries(t, clickhouseType)
	for name, d := range all(t) {
		for _, v := range d.Templating.List {
			if v.Datasource != nil && v.Datasource.Type == clickhouseType {
				var text string
				must(t, json.Unmarshal(v.Query, &text))
				list = append(list, asked{dashboard: name, panel: "variable " + v.Name, target: target{RawSQL: text}})
			}
		}
	}
	return list
}

// sql wants rows of every statement for one of the allocations at least, and a unit of every column that holds numbers.
func sql(t *testing.T, p *platform) {
	w := window{time.Now().Add(-6 * time.Hour), time.Now().Add(time.Second), time.Minute}
	list := statements(t)
	if err := p.grafana.Exec(t.Context(), "CREATE TABLE written (a Int8) ENGINE = Memory"); err == nil || !strings.Contains(err.Error(), "READONLY") {
		t.Fatalf("who reads can write: %v", err)
	}
	for _, q := range list {
		rows := 0
		var columns []driver.ColumnType
		for _, id := range allocations {
			v := chosen()
			v["allocation_id"] = []string{id}
			n, types := run(t, p.grafana, w.sql(t, v.variables(t, q.RawSQL)))
			rows, columns = rows+n, types
		}
		v := chosen()
		v["allocation_id"], v["node_id"] = []string{`it's "x"`}, []string{`it's "x"`}
		run(t, p.grafana, w.sql(t, v.variables(t, q.RawSQL))) // a quote ends no statement
		if rows == 0 {
			t.Errorf("%s: %s: no rows:\n%s", q.dashboard, q.panel, q.RawSQL)
		}
		if q.of.Type == "table" {
			for _, c := range columns {
				if isNumber(c) && !hasUnit(t, q.of, c.Name()) {
					t.Errorf("%s: %s: the column %s has no unit", q.dashboard, q.panel, c.Name())
				}
			}
		}
	}
	t.Logf("%d statements", len(list))
}

// run counts the rows of a statement.
func run(t *testing.T, conn driver.Conn, text string) (n int, columns []driver.ColumnType) {
	t.Helper()
	rows, err := conn.Query(t.Context(), text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return n, rows.ColumnTypes()
}

var numeric = regexp.MustCompile(`^(?:Nullable\()?(?:U?Int|Float|Decimal)`)

func isNumber(c driver.ColumnType) bool { return numeric.MatchString(c.DatabaseTypeName()) }

func hasUnit(t *testing.T, p panel, column string) bool {
	t.Helper()
	for _, o := range p.FieldConfig.Overrides {
		matches := o.Matcher.Options == column
		if o.Matcher.ID == "byRegexp" {
			matches = regexp.MustCompile(strings.Trim(o.Matcher.Options, "/")).MatchString(column)
		}
		if matches && slices.ContainsFunc(o.Properties, func(p struct {
			ID    string
			Value json.RawMessage
		}) bool {
			return p.ID == "unit"
		}) {
			return true
		}
	}
	return p.FieldConfig.Defaults.Unit != ""
}
