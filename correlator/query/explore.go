package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// silentAfter is for how long a source, or a layer, says nothing before it counts as silent: ten times what heartbeats take.
const silentAfter = 5 * time.Minute

// figuresWindow is of what the figures of sources are.
const figuresWindow = 5 * time.Minute

// States puts the four states of an allocation side by side.
func (s *Service) States(ctx context.Context, allocation string, asOf int64) (correlator.FourStates, error) {
	if err := s.admit(ctx, allocation); err != nil {
		return correlator.FourStates{}, err
	}
	if asOf == 0 {
		kept, rows, ok, err := s.kept(ctx, allocation)
		switch {
		case err != nil:
			return correlator.FourStates{}, err
		case ok:
			return kept.States(rows, s.Profile), nil
		}
	}
	c, _, err := s.caseOf(ctx, allocation, asOf)
	if err != nil {
		return correlator.FourStates{}, err
	}
	return c.States(), nil
}

// Raw gives one record of an allocation's timeline, as it was sent. ErrUnknown where the timeline has no such ref.
func (s *Service) Raw(ctx context.Context, allocation, ref string) (FullEvent, error) {
	if err := s.admit(ctx, allocation); err != nil {
		return FullEvent{}, err
	}
	c, _, err := s.caseOf(ctx, allocation, 0)
	if err != nil {
		return FullEvent{}, err
	}
	lists := [][]*correlator.Event{c.Events, c.Unattributed}
	if ScopeOf(ctx).limited {
		lists = lists[:1] // what is nobody's may speak of anybody
	}
	for _, list := range lists {
		for _, e := range list {
			if e.Ref == ref {
				return Full(e), nil
			}
		}
	}
	return FullEvent{}, ErrUnknown
}

// Lookup says what an identifier of any kind belongs to. ErrUnknown where nothing is known of it.
func (s *Service) Lookup(ctx context.Context, id string) (Lookup, error) {
	out := Lookup{ID: id, Kinds: []string{}, Allocations: []LookupResult{}, Nodes: []string{}}
	if s.Facts == nil {
		return out, errors.ErrUnsupported
	}
	kinds, err := s.Facts.KindsOf(ctx, id)
	if err != nil {
		return out, err
	}
	found, err := s.Store.Resolve(ctx, id)
	if err != nil {
		return out, err
	}
	limited := ScopeOf(ctx).limited
	if found, err = s.only(ctx, found); err != nil {
		return out, err
	}
	if len(found) == 0 && (len(kinds) == 0 || limited) {
		return out, ErrUnknown
	}
	for _, k := range kinds {
		out.Kinds = append(out.Kinds, k.String())
		if k == identity.Node {
			out.Nodes = append(out.Nodes, id)
		}
	}
	for _, allocation := range found {
		one := LookupResult{ID: allocation}
		if s.Overview != nil {
			if h, ok := s.Overview.Head(allocation); ok {
				one.State, one.Since, one.FirstSeen, one.LastSeen = h.State, h.Since, h.First, h.Last
			}
		}
		out.Allocations = append(out.Allocations, one)
	}
	if out.LastHeard, err = s.lastHeard(ctx, kinds, id); err != nil {
		return out, err
	}
	layers, _, err := s.layersHeard(ctx)
	if err != nil {
		return out, err
	}
	now := time.Now().UnixNano()
	for _, layer := range s.Profile.Layers {
		out.Layers = append(out.Layers, layerHeard(layer, layers[layer], now))
	}
	return out, nil
}

// lastHeard gives the newest record that carries an identifier.
func (s *Service) lastHeard(ctx context.Context, kinds []identity.Kind, id string) (*Heard, error) {
	var last *Heard
	for _, k := range kinds {
		if k == identity.Allocation && s.Overview == nil {
			continue
		}
		page, err := s.Search(ctx, Query{Attrs: []record.Attr{{Key: k.Attribute(), Value: id}}}, "", 1)
		var much *TooMuch
		switch {
		case errors.As(err, &much):
			continue // it is everywhere
		case err != nil:
			return nil, err
		}
		for _, e := range page.Events {
			if last == nil || correlator.Time(e.Time) > last.Time {
				last = &Heard{correlator.Time(e.Time), e.Service, e.Layer, e.Summary(), e.Ref}
			}
		}
	}
	return last, nil
}

func layerHeard(layer string, last, now int64) LayerHeard {
	out := LayerHeard{Layer: layer, Silent: now-last > int64(silentAfter)}
	if last != 0 {
		at := correlator.Time(last)
		out.LastHeard = &at
	}
	return out
}

// layersHeard gives when each layer was heard of last, and who speaks for it.
func (s *Service) layersHeard(ctx context.Context) (last map[string]int64, sources map[string][]string, err error) {
	if s.Facts == nil {
		return nil, nil, errors.ErrUnsupported
	}
	heard, err := s.Facts.SourcesHeard(ctx)
	if err != nil {
		return nil, nil, err
	}
	last, sources = map[string]int64{}, map[string][]string{}
	for _, h := range heard {
		layer := s.layerOf(h)
		last[layer] = max(last[layer], h.Last)
		if !slices.Contains(sources[layer], h.Service) {
			sources[layer] = append(sources[layer], h.Service)
		}
	}
	return last, sources, nil
}

func (s *Service) layerOf(h SourceHeard) string {
	return s.Profile.Layer(h.Service, h.Scope, func(name string) string {
		if name == semconv.Layer {
			return h.Layer
		}
		return ""
	})
}

// Node gives a node over all its node instances, and who held it when. ErrUnknown where nothing is known of it.
func (s *Service) Node(ctx context.Context, id string) (Node, error) {
	if s.Facts == nil {
		return Node{}, errors.ErrUnsupported
	}
	n, err := s.Facts.Node(ctx, id)
	if err != nil {
		return n, err
	}
	n.Drift = s.driftOf(n)
	if ScopeOf(ctx).limited {
		if n, err = s.ownShare(ctx, n); err != nil {
			return Node{}, err
		}
	}
	for i := range n.Assignments {
		if a := &n.Assignments[i]; a.To == nil {
			n.Allocation = &a.ID
		}
	}
	heard, err := s.lastHeard(ctx, []identity.Kind{identity.Node}, id)
	if err != nil {
		return n, err
	}
	if heard != nil {
		n.LastHeard = &heard.Time
	}
	return n, nil
}

// driftOf compares what views showed last of a node with what it is used for. A value that the profile does not map, and an occupancy
// that nobody knows, are not compared (docs/contract.md §6).
func (s *Service) driftOf(n Node) []correlator.Drift {
	out := []correlator.Drift{}
	if n.OccupancySince == nil || n.Occupancy == "unknown" {
		return out
	}
	for _, view := range n.Shown {
		may, mapped := s.Profile.Stands(view.Projection, correlator.FieldOccupancy, view.Occupancy, n.Occupancy)
		if mapped && !may && time.Duration(view.At-*n.OccupancySince) > s.Profile.Grace(view.Projection) {
			out = append(out, correlator.Drift{Projection: view.Projection, Field: correlator.FieldOccupancy, Shown: view.Occupancy, Truth: n.Occupancy, Since: *n.OccupancySince})
		}
	}
	return out
}

// ownShare is what of a node a caller with some tenants sees: when it was theirs, and which node instances there were then.
func (s *Service) ownShare(ctx context.Context, n Node) (Node, error) {
	out := Node{ID: n.ID, Instances: []NodeInstance{}, Assignments: []Assignment{}, Drift: []correlator.Drift{}}
	for _, a := range n.Assignments {
		ok, err := s.sees(ctx, a.ID)
		if err != nil {
			return out, err
		}
		if !ok {
			continue
		}
		out.Assignments = append(out.Assignments, a)
		if a.To == nil {
			out.Occupancy, out.OccupancySince, out.Drift = n.Occupancy, n.OccupancySince, n.Drift
		}
		for _, i := range n.Instances {
			if (i.From == nil || a.To == nil || *i.From < *a.To) && (i.To == nil || a.From == nil || *i.To > *a.From) && !slices.Contains(out.Instances, i) {
				out.Instances = append(out.Instances, i)
			}
		}
	}
	if len(out.Assignments) == 0 {
		return out, ErrUnknown
	}
	return out, nil
}

// Layers lists the layers of the profile, and how each stands.
func (s *Service) Layers(ctx context.Context) (LayerList, error) {
	last, sources, err := s.layersHeard(ctx)
	if err != nil {
		return LayerList{}, err
	}
	list, _, err := s.Assessments(ctx, 0)
	if err != nil {
		return LayerList{}, err
	}
	blamed, stuck := map[string]int{}, map[string]int{}
	for i := range list {
		if a := &list[i]; a.Stuck != nil {
			stuck[a.Stuck.Owes]++
		}
		if f := tellingFault(list[i].Verdict.Faults); f != nil && f.ClearedAt == nil {
			blamed[f.Layer]++
		}
	}
	now := time.Now().UnixNano()
	out := LayerList{AsOf: correlator.Time(now), Layers: []Layer{}}
	for _, name := range s.Profile.Layers {
		heard := layerHeard(name, last[name], now)
		out.Layers = append(out.Layers, Layer{
			name, s.Profile.Owners[name], speakers(ctx, sources[name]), heard.LastHeard, heard.Silent, blamed[name], stuck[name],
		})
	}
	return out, nil
}

// speakers are who speaks for a layer; who sees some tenants alone is not told.
func speakers(ctx context.Context, names []string) []string {
	if ScopeOf(ctx).limited {
		return []string{}
	}
	return append([]string{}, names...)
}

// Sources lists who sent telemetry within a day, and of what kind what it sends is.
func (s *Service) Sources(ctx context.Context) (SourceList, error) {
	now := time.Now().UnixNano()
	if ScopeOf(ctx).limited {
		return SourceList{}, fmt.Errorf("what each source sends %w", ErrScope)
	}
	out := SourceList{AsOf: correlator.Time(now), Window: int64(figuresWindow / time.Second), Sources: []Source{}}
	if s.Facts == nil {
		return out, errors.ErrUnsupported
	}
	heard, err := s.Facts.SourcesHeard(ctx)
	if err != nil {
		return out, err
	}
	figures, err := s.Facts.SourceFigures(ctx, figuresWindow)
	if err != nil {
		return out, err
	}
	byService := map[string]*Source{}
	for _, h := range heard {
		one := byService[h.Service]
		if one == nil {
			one = &Source{Source: h.Service, Layer: s.layerOf(h), Coverage: map[string]float64{}}
			byService[h.Service] = one
		}
		one.LastHeard = max(one.LastHeard, correlator.Time(h.Last))
	}
	for _, f := range figures {
		one := byService[f.Service]
		if one == nil || f.Records == 0 {
			continue
		}
		one.Records, one.Errors, one.Unresolved, one.Lag, one.Ahead = f.Records, f.Errors, f.Unresolved, f.Lag, f.Ahead
		for name, n := range map[string]uint64{
			semconv.AllocationID: f.Allocation, semconv.WorkflowID: f.Workflow, semconv.CorrelationID: f.Correlation,
			semconv.NodeID: f.NodeCovered, semconv.NodeInstanceID: f.NodeInstanceCovered,
		} {
			one.Coverage[name] = float64(n) / float64(f.Records)
		}
	}
	for _, one := range byService {
		silent := now - int64(one.LastHeard)
		one.SilentSeconds, one.Alive = max(0, silent/int64(time.Second)), silent <= int64(silentAfter)
		out.Sources = append(out.Sources, *one)
	}
	slices.SortFunc(out.Sources, func(a, b Source) int { return cmp.Compare(a.Source, b.Source) })
	return out, nil
}

// CompareProviders puts providers side by side, by what was told of their jobs in [from, to); the last day where neither is stated.
func (s *Service) CompareProviders(ctx context.Context, from, to int64) (ProviderComparison, error) {
	if ScopeOf(ctx).limited {
		return ProviderComparison{}, fmt.Errorf("how providers compare %w", ErrScope)
	}
	if to == 0 {
		to = time.Now().UnixNano()
	}
	if from == 0 {
		from = to - int64(24*time.Hour)
	}
	out := ProviderComparison{From: correlator.Time(from), To: correlator.Time(to)}
	if s.Facts == nil {
		return out, errors.ErrUnsupported
	}
	if err := validRange(from, to); err != nil {
		return out, err
	}
	var err error
	out.Providers, err = s.Facts.CompareProviders(ctx, from, to)
	return out, err
}
