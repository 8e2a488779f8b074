package profile

import "slices"

// MayMatchLayer says whether a record of this service and scope that states this layer, "" for none, can be in a
// layer: true as well where that depends on its other attributes. Layer decides about the record itself.
func (p *Profile) MayMatchLayer(layer, service, scope, stated string) bool {
	if stated != "" && slices.Contains(p.Layers, stated) {
		return stated == layer
	}
	for i := range p.catalog {
		c := p.catalog[i]
		asked := c.attributes
		c.attributes = nil
		if !c.matches(service, scope, nil) {
			continue
		}
		if c.layer == layer {
			return true
		}
		if len(asked) == 0 {
			return false // an earlier rule takes all of them
		}
	}
	return false
}
