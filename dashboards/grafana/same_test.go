package grafana

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/correlator/query"
)

// find is the query of one panel.
func find(t *testing.T, kind, dashboard, title string) string {
	t.Helper()
	for _, q := range queries(t, kind) {
		if q.dashboard == dashboard && q.of.Title == title {
			return q.Expr + q.RawSQL
		}
	}
	t.Fatalf("%s has no %s", dashboard, title)
	return ""
}

// sameAsTheAPI: a panel and the API give the same number.
func sameAsTheAPI(t *testing.T, p *platform, m *metricsStore) {
	if m == nil {
		skip(t, noPrometheus)
	}
	w := window{time.Now().Add(-6 * time.Hour), time.Now().Add(time.Second), time.Minute}
	v := chosen()
	v["layer"] = []string{".*"}
	value := func(kind, dashboard, title string, label ...string) map[string]float64 {
		t.Helper()
		found, problem := m.ask(t, w.expr(t, v.variables(t, find(t, kind, dashboard, title))), false)
		if problem != "" {
			t.Fatal(problem)
		}
		out := map[string]float64{}
		for _, s := range found {
			var name []string
			for _, l := range label {
				name = append(name, s.labels[l])
			}
			if s.value != 0 {
				out[strings.Join(name, "/")] = s.value
			}
		}
		return out
	}
	same := func(what string, panel func() map[string]float64, api func() map[string]float64) {
		t.Helper()
		eventually(t, 20*time.Second, func() string { // the fleet is counted every five seconds
			have, want := panel(), api()
			if maps.Equal(have, want) && len(want) > 0 {
				return ""
			}
			return fmt.Sprintf("%s: the panel says %v, the API %v", what, have, want)
		})
	}
	same("allocations by state", func() map[string]float64 { return value(prometheusType, "fleet.json", "Allocations by state", "state") }, func() map[string]float64 {
		var list struct {
			Allocations []struct{ State *string }
		}
		p.get(t, "/api/v1/allocations?limit=1000", &list)
		out := map[string]float64{}
		for _, a := range list.Allocations {
			state := "other"
			if a.State != nil {
				state = *a.State
			}
			out[state]++
		}
		return out
	})
	var stuck incident.StuckList
	same("stuck by owner", func() map[string]float64 {
		return value(prometheusType, "fleet.json", "Stuck by owner", "owner", "layer")
	}, func() map[string]float64 {
		stuck = incident.StuckList{}
		p.get(t, "/api/v1/stuck", &stuck)
		out := map[string]float64{}
		for _, a := range stuck.Allocations {
			layer, owner := a.Layer, a.LayerOwner.Team
			if layer == "" {
				layer = "undetermined"
			}
			if owner == "" {
				owner = layer
			}
			out[owner+"/"+layer]++
		}
		return out
	})
	same("open incidents", func() map[string]float64 { return value(prometheusType, "layers.json", "Open incidents", "layer") }, func() map[string]float64 {
		var list incident.List
		p.get(t, "/api/v1/incidents?open=true", &list)
		out := map[string]float64{}
		for _, i := range list.Incidents {
			out[i.Layer]++
		}
		return out
	})

	// The same out of the store: what is stuck, by allocation and layer; the verdict on one; installations of a node; its provider's jobs.
	table := func(dashboard, title string) []map[string]string {
		t.Helper()
		return read(t, p.grafana, w.sql(t, v.variables(t, find(t, clickhouseType, dashboard, title))))
	}
	var have, want []string
	for _, row := range table("fleet.json", "What is stuck") {
		have = append(have, row["allocation_id"]+" "+row["layer"]+" "+row["state"])
	}
	for _, a := range stuck.Allocations {
		want = append(want, a.ID+" "+a.Layer+" "+*a.State)
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) || len(want) == 0 {
		t.Errorf("the table says %v is stuck, the API %v", have, want)
	}
	for _, id := range allocations {
		v["allocation_id"] = []string{id}
		var said struct {
			State   *string
			Verdict struct {
				Outcome string
				Faults  []struct{ Layer, Mechanism string }
			}
		}
		p.get(t, "/api/v1/allocations/"+id+"/verdict", &said)
		have, want := "", said.Verdict.Outcome
		for _, f := range said.Verdict.Faults {
			want += " " + f.Layer + "." + f.Mechanism
		}
		for i, row := range table("allocation.json", "Verdict") {
			if i == 0 {
				have = row["outcome"]
			}
			if row["layer"] != "" {
				have += " " + row["layer"] + "." + row["mechanism"]
			}
		}
		if have != want {
			t.Errorf("%s: the table says %s, the API %s", id, have, want)
		}
		state, shown := "", ""
		if said.State != nil {
			state = *said.State
		}
		for _, row := range table("allocation.json", "State") {
			shown = row["state"]
		}
		if shown != state {
			t.Errorf("%s: the panel says state %q, the API %q", id, shown, state)
		}
	}
	var about query.Node
	p.get(t, "/api/v1/nodes/"+node, &about)
	have, want = nil, nil
	for _, row := range table("node.json", "Node instances") {
		have = append(have, row["node_instance_id"])
	}
	for _, i := range about.Instances {
		want = append(want, i.ID)
	}
	if !slices.Equal(have, want) || len(want) != 2 {
		t.Errorf("the table says %v is installed, the API %v", have, want)
	}
	var compared query.ProviderComparison
	p.get(t, "/api/v1/providers/compare?from="+w.from.UTC().Format(time.RFC3339), &compared)
	jobs, told := map[string]string{}, map[string]string{}
	for _, row := range table("providers.json", "Steps, with their spread") {
		if row["step"] == "job:provision" {
			jobs[row["provider"]] = row["cases"]
		}
	}
	for _, one := range compared.Providers {
		if one.Operation == "provision" && one.Succeeded > 0 {
			told[one.Provider] = fmt.Sprint(one.Succeeded)
		}
	}
	if !maps.Equal(jobs, told) || len(told) != 2 {
		t.Errorf("the table says %v jobs succeeded, the API %v", jobs, told)
	}
}

// read gives the rows of a statement as text, by column.
func read(t *testing.T, conn driver.Conn, text string) (out []map[string]string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		into := make([]any, 0, len(rows.ColumnTypes()))
		for _, c := range rows.ColumnTypes() {
			into = append(into, reflect.New(c.ScanType()).Interface())
		}
		must(t, rows.Scan(into...))
		row := map[string]string{}
		for i, c := range rows.ColumnTypes() {
			row[c.Name()] = fmt.Sprint(reflect.ValueOf(into[i]).Elem().Interface())
		}
		out = append(out, row)
	}
	must(t, rows.Err())
	return out
}
