package identityprocessor

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.yaml.in/yaml/v3"

	"go.opentelemetry.io/collector/config/configoptional"

	"github.com/faultline-io/faultline/internal/doctest"
	"github.com/faultline-io/faultline/processors/identityprocessor/linkstore"
)

var update = flag.Bool("update", false, "write the table of metrics into README.md")

// instrument is a metric as the code makes it and as metadata.yaml describes it.
type instrument struct {
	Description, Unit string
	Attributes        []string
	Kind              string
}

// listing makes instruments that do nothing and remembers them.
type listing struct {
	noop.Meter
	made map[string]instrument
}

type listingProvider struct {
	noop.MeterProvider
	*listing
}

func (l listingProvider) Meter(string, ...metric.MeterOption) metric.Meter { return l.listing }

func (l *listing) Int64Counter(name string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	c := metric.NewInt64CounterConfig(o...)
	l.made[name] = instrument{Description: c.Description(), Unit: c.Unit(), Kind: "counter"}
	return noop.Int64Counter{}, nil
}

func (l *listing) Int64ObservableCounter(name string, o ...metric.Int64ObservableCounterOption) (metric.Int64ObservableCounter, error) {
	c := metric.NewInt64ObservableCounterConfig(o...)
	l.made[name] = instrument{Description: c.Description(), Unit: c.Unit(), Kind: "counter"}
	return noop.Int64ObservableCounter{}, nil
}

func (l *listing) Int64ObservableGauge(name string, o ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	c := metric.NewInt64ObservableGaugeConfig(o...)
	l.made[name] = instrument{Description: c.Description(), Unit: c.Unit(), Kind: "gauge"}
	return noop.Int64ObservableGauge{}, nil
}

func (l *listing) Float64ObservableGauge(name string, o ...metric.Float64ObservableGaugeOption) (metric.Float64ObservableGauge, error) {
	c := metric.NewFloat64ObservableGaugeConfig(o...)
	l.made[name] = instrument{Description: c.Description(), Unit: c.Unit(), Kind: "gauge"}
	return noop.Float64ObservableGauge{}, nil
}

func (l *listing) Float64Histogram(name string, o ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	c := metric.NewFloat64HistogramConfig(o...)
	l.made[name] = instrument{Description: c.Description(), Unit: c.Unit(), Kind: "histogram"}
	return noop.Float64Histogram{}, nil
}

// described reads metadata.yaml.
func described(t *testing.T) map[string]instrument {
	t.Helper()
	text, err := os.ReadFile("metadata.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Telemetry struct {
			Metrics map[string]struct {
				Unit, Description     string
				Attributes            []string
				Sum, Gauge, Histogram map[string]any
			}
		}
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	out := map[string]instrument{}
	for name, d := range m.Telemetry.Metrics {
		kind := "counter"
		switch {
		case d.Gauge != nil:
			kind = "gauge"
		case d.Histogram != nil:
			kind = "histogram"
		}
		out[name] = instrument{d.Description, d.Unit, d.Attributes, kind}
	}
	return out
}

// metadata.yaml describes the metrics that the code makes, and the README lists them.
func TestMetricsTable(t *testing.T) {
	l := &listing{made: map[string]instrument{}}
	set := processortest.NewNopSettings(Type)
	set.MeterProvider = listingProvider{listing: l}
	cfg := createDefaultConfig().(*Config)
	links := linkstore.DefaultConfig()
	links.DSN = "http://127.0.0.1:21001/nowhere"
	cfg.Links = configoptional.Some(links)
	p, err := newProcessor(cfg, set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newObjects(p, set); err != nil {
		t.Fatal(err)
	}
	if err := p.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	all := described(t)
	made := map[string]instrument{}
	for name, i := range l.made {
		i.Attributes = all[name].Attributes // known only where it is counted
		made[name] = i
	}
	if diff := cmp.Diff(all, made); diff != "" {
		t.Errorf("-described +made:\n%s", diff)
	}

	var table strings.Builder
	table.WriteString("| metric | kind | by | what it says |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		i := all[name]
		by := ""
		if len(i.Attributes) > 0 {
			by = "`" + strings.Join(i.Attributes, "` `") + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, i.Kind, by, i.Description)
	}
	var rows []string
	for name, i := range all {
		rows = append(rows, doctest.MetricRow(name, i.Kind, i.Attributes, i.Description))
	}
	doctest.MetricRows(t, "../../docs/metrics.md", "the identity processor", *update, rows)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(readme), "<!-- metrics -->\n")
	old, after, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		t.Fatal("README.md has no place for the table")
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(before+"<!-- metrics -->\n"+table.String()+"<!-- end -->"+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if old != table.String() {
		t.Errorf("README.md has another table: run with -update\n%s", cmp.Diff(old, table.String()))
	}
}
