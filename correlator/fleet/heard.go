package fleet

import (
	"cmp"
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/semconv"
)

// identifiers whose coverage is told of.
var identifiers = []string{semconv.AllocationID, semconv.WorkflowID, semconv.CorrelationID, semconv.NodeID, semconv.NodeInstanceID}

// ask reads how sources and layers are heard. Where the store does not answer, what was heard before stands for a while.
func (f *Fleet) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	sources, err := f.heard.Sources(ctx)
	if err != nil {
		return err
	}
	layers, err := f.heard.Layers(ctx)
	if err != nil {
		return err
	}
	asked := append(f.ofSources(sources.Sources), f.ofLayers(layers)...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.askedAt = asked, f.now()
	return nil
}

func (f *Fleet) ofSources(list []query.Source) (out []prometheus.Metric) {
	slices.SortStableFunc(list, func(a, b query.Source) int { return cmp.Compare(b.Records, a.Records) })
	for _, s := range list {
		if f.sources.of(s.Source) == other {
			continue // averages over strangers tell nothing
		}
		out = append(out, sourceSilence.of(float64(s.SilentSeconds), s.Source), sourceRecords.of(float64(s.Records), s.Source))
		if s.Records == 0 {
			continue
		}
		out = append(out, sourceLag.of(s.Lag, s.Source), sourceAhead.of(s.Ahead, s.Source), sourceUnresolved.of(float64(s.Unresolved)/float64(s.Records), s.Source))
		for _, name := range identifiers {
			out = append(out, sourceCoverage.of(s.Coverage[name], s.Source, name))
		}
	}
	return out
}

func (f *Fleet) ofLayers(list query.LayerList) (out []prometheus.Metric) {
	for _, l := range list.Layers {
		out = append(out, layerBlamed.of(float64(l.Blamed), l.Layer, f.owner(l.Layer)))
		if l.LastHeard != nil {
			silent := max(0, list.AsOf-*l.LastHeard)
			out = append(out, layerSilence.of(float64(silent)/float64(second), l.Layer, f.owner(l.Layer)))
		}
	}
	return out
}

const second = correlator.Time(1e9)
