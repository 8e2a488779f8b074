package correlator

import "github.com/faultline-io/faultline/internal/profile"

// placeStrangers gives the plain lines of a program that no catalogue knows the layer that its own lifecycle events show: who tells of a workflow's
// states is the workflow engine, whatever it is called. events are one allocation's.
func placeStrangers(events []*Event, p *profile.Profile) {
	var layers map[string]string
	asked := map[string]bool{} // services are few, and asking the catalogue costs more than all else here
	for _, e := range events {
		if e.Layer == "" || !e.IsEvent() || asked[e.Service] || !isLifecycle(e.Name) {
			continue
		}
		asked[e.Service] = true
		if LayerOfName(p, e.Service) != "" {
			continue
		}
		if layers == nil {
			layers = map[string]string{}
		}
		layers[e.Service] = e.Layer
	}
	if layers == nil {
		return
	}
	for _, e := range events {
		if layer := layers[e.Service]; layer != "" && e.Layer == "" && e.party == "" {
			e.Layer, e.party, e.inferred = layer, layer, true
			e.memo = nil // what was read of it before was read of somebody else
		}
	}
}
