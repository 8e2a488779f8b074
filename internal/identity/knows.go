package identity

// Knows says whether a link would tell nothing new, so that whoever reads shared links again and again
// takes no lock that readers wait for. A link that cannot be one is not known.
func (x *Index) Knows(f Link) bool {
	part := x.mu.RLock()
	defer part.RUnlock()
	s := x.subjects[f.Subject]
	if s == nil {
		return false
	}
	switch f.Type {
	case Seen:
		return s.knows(f.Object, x.subjects[f.Object])
	case Bind:
		return s.binds.has(bind{f.Object, f.From, f.To})
	case Opened, Closed, Lost:
		if f.Object.Kind == NodeInstance {
			return s.nodeState != nil && s.instances.has(move{f.Type, f.Object.ID, f.From})
		}
		return s.nodeState != nil && s.moves.has(move{f.Type, f.Object.ID, f.From})
	}
	return false
}
