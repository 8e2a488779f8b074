package grafana

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// dashboard is what the tests look at of one.
type dashboard struct {
	UID, Title  string
	Tags        []string
	Links       []link
	Panels      []panel
	Templating  struct{ List []variable }
	Annotations struct{ List []annotation }
}

type panel struct {
	ID          int
	Type, Title string
	Datasource  *source
	Targets     []target
	Links       []link
	Options     json.RawMessage
	FieldConfig struct {
		Defaults  field
		Overrides []struct {
			Matcher    struct{ ID, Options string }
			Properties []struct {
				ID    string
				Value json.RawMessage
			}
		}
	}
}

type field struct {
	Unit       string
	Links      []link
	Thresholds *struct{ Steps []step }
}

type step struct {
	Value *float64
	Color string
}

type source struct{ Type, UID string }

// target is a query, of whichever data source.
type target struct {
	RefID, Expr, RawSQL, QueryType, LegendFormat string
	Datasource                                   *source
	Instant, Range                               bool
	Format                                       json.RawMessage
}

type variable struct {
	Name, Type, AllValue string
	Query                json.RawMessage
	Datasource           *source
	IncludeAll, Multi    bool
}

type annotation struct {
	Name, Expr string
	Datasource *source
	Target     target
}

type link struct{ Title, Type, URL string }

const folder = "dashboards"

// all are the committed dashboards by the names of their files.
func all(t testing.TB) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.json")
	must(t, err)
	out := map[string]dashboard{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		var d dashboard
		must(t, json.NewDecoder(bytes.NewReader(text)).Decode(&d))
		out[filepath.Base(file)] = d
	}
	if len(out) != 6 {
		t.Fatalf("%d dashboards, want 6", len(out))
	}
	return out
}

// asked is a query of a dashboard, and where it stands.
type asked struct {
	dashboard, panel string
	of               panel
	target
}

// queries are all of one kind of data source: those of panels and of annotations.
func queries(t testing.TB, kind string) (out []asked) {
	t.Helper()
	for name, d := range all(t) {
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				if q.Datasource != nil && q.Datasource.Type == kind {
					out = append(out, asked{name, p.Title + "/" + q.RefID, p, q})
				}
			}
		}
		for _, a := range d.Annotations.List {
			if a.Datasource != nil && a.Datasource.Type == kind {
				out = append(out, asked{name, "annotation " + a.Name, panel{}, a.Target})
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no query of %s", kind)
	}
	return out
}

const (
	prometheusType = "prometheus"
	clickhouseType = "grafana-clickhouse-datasource"
	lokiType       = "loki"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
