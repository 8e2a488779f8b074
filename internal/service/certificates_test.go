package service

import (
	"errors"
	"flag"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/internal/doctest"
)

var update = flag.Bool("update", false, "write the table of certificates in docs/metrics.md anew")

func TestCertificates(t *testing.T) {
	c := NewCertificates()
	c.Add("api", func() (time.Time, error) { return time.Unix(1_800_000_000, 0), nil })
	c.Add("control", func() (time.Time, error) { return time.Time{}, nil })
	c.Add("node", func() (time.Time, error) { return time.Time{}, errors.New("gone") })
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	all, err := r.Gather()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	got := map[string]float64{}
	for _, m := range all[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
	}
	if d := cmp.Diff(map[string]float64{"api": 1_800_000_000, "node": 0}, got); d != "" {
		t.Error(d)
	}
	doctest.Metrics(t, "../../docs/metrics.md", "certificates", *update, c)
}
