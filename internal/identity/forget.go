package identity

// Bounds of what is remembered on each source's account.
const (
	// Sources beyond these share one account, so that who invents names gains nothing by it, and who does
	// not keeps at least a 128th of the index.
	maxSources  = 128
	forgetBatch = 64 // subjects forgotten at once
)

// sources are the accounts on which subjects are remembered. A source that names a million identifiers
// makes room for them among its own first: what is forgotten is always the biggest account's.
type sources struct {
	accounts map[string]*account
	all      []*account
	current  *account // of the link that is being added
	evicted  int
}

// account is one source's subjects, in a ring with a hand (CLOCK): a subject that was used in this
// epoch stays for another round. An epoch is the time in which a sixteenth of the index is made anew.
type account struct {
	ring []*subject
	hand int
}

// turn makes a source the current one.
func (s *sources) turn(source string) {
	if s.accounts == nil {
		s.accounts = map[string]*account{}
	}
	a := s.accounts[source]
	if a == nil && len(s.all) >= maxSources {
		a = s.accounts[""]
	}
	if a == nil {
		if len(s.all) >= maxSources-1 {
			source = "" // the last account is for all that come after
		}
		a = &account{}
		s.accounts[source] = a
		s.all = append(s.all, a)
	}
	s.current = a
}

func (s *sources) remember(of *subject) { s.current.ring = append(s.current.ring, of) }

// forget makes room by forgetting the least recently used subjects of the biggest account. It says
// whether there is room. Callers hold the write lock.
func (x *Index) forget() bool {
	var biggest *account
	for _, a := range x.sources.all {
		if biggest == nil || len(a.ring) > len(biggest.ring) {
			biggest = a
		}
	}
	if biggest == nil {
		return false
	}
	victims, turned := biggest.unused(min(forgetBatch, max(1, len(biggest.ring)/16)), x.epoch.Load())
	if turned {
		x.epoch.Add(1)
	}
	labels := make([]string, len(victims))
	v := view{x: x, write: true}
	for i, s := range victims {
		if s.key.Kind.Immovable() {
			labels[i] = v.allocationOf(s)
		}
	}
	for i, s := range victims {
		s.gone = true
		delete(x.subjects, s.key)
		x.touch(s.slot)
		x.stale(s)
		for _, p := range s.peers.list {
			p.peers.remove(s)
			x.forgetPeer(p, labels[i])
		}
	}
	x.sources.evicted += len(victims)
	return len(x.subjects) < x.opt.MaxSubjects
}

// unused takes up to n subjects out of the ring: those that were not used in this epoch, else, where
// all were, those at the hand. turned says that a new epoch is due.
func (a *account) unused(n int, epoch uint32) (out []*subject, turned bool) {
	for steps := len(a.ring); len(out) < n && len(a.ring) > 0; steps-- {
		if a.hand >= len(a.ring) {
			a.hand = 0
		}
		s := a.ring[a.hand]
		if steps > 0 && s.used.Load() == epoch {
			a.hand++
			continue
		}
		turned = turned || steps <= 0
		out = append(out, s)
		last := len(a.ring) - 1
		a.ring[a.hand] = a.ring[last]
		a.ring[last] = nil
		a.ring = a.ring[:last]
	}
	return out, turned
}
