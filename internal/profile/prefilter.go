package profile

// prefilter says which of many texts a line may hold, in one pass that looks at every third place: most
// lines hold none of them, and then nothing is searched for. Each text has a bit; several may share one.
type prefilter struct {
	held    [1 << (heldBits - 6)]uint64 // four bytes that any text holds, as a bit each; small enough to stay at hand
	windows [1 << prefilterBits]uint32  // by another hash of them: the texts that hold them
	always  uint32                      // texts that are too short to be told by this
	used    int
}

const (
	heldBits        = 16
	prefilterBits   = 13
	prefilterStride = 3
	prefilterWindow = 4
	prefilterShort  = prefilterStride + prefilterWindow - 1 // a text as long has a whole window at one place in three, wherever it stands
)

// add gives the bit of a group of texts.
func (s *prefilter) add(texts []string) uint32 {
	bit := uint32(1) << (s.used % 32)
	s.used++
	for _, t := range texts {
		if len(t) < prefilterShort {
			s.always |= bit
			continue
		}
		for i := len(t) - prefilterShort; i < len(t)-prefilterShort+prefilterStride; i++ { // the end of a text says more than its beginning
			w := four(t[i:])
			s.held[held(w)/64] |= 1 << (held(w) % 64)
			s.windows[window(w)] |= bit
		}
	}
	return bit
}

// read gives the bits of all that a line may hold.
func (s *prefilter) read(line string) uint32 {
	bits := s.always
	for i := 0; i+prefilterWindow <= len(line); i += prefilterStride {
		w := four(line[i:])
		if h := held(w); s.held[h/64]>>(h%64)&1 != 0 {
			bits |= s.windows[window(w)]
		}
	}
	return bits
}

// four reads the first four bytes; the compiler makes one load of it.
func four(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func held(bytes uint32) uint32 { return bytes * 0x85ebca6b >> (32 - heldBits) }

func window(bytes uint32) uint32 { return bytes * 0x9e3779b1 >> (32 - prefilterBits) }
