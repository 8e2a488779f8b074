package profile

// sieve says which of many texts a line may hold, in one pass that looks at every fourth place: most
// lines hold none of them, and then nothing is searched for. Each text has a bit; several may share one.
type sieve struct {
	windows [1 << sieveBits]uint32 // by a hash of three bytes: the texts that hold them
	always  uint32                 // texts that are too short to be told by this
	used    int
}

const (
	sieveBits   = 13
	sieveStride = 4
	sieveWindow = 3
	sieveShort  = sieveStride + sieveWindow - 1 // a text as long has a whole window at one place in four, wherever it stands
)

// add gives the bit of a group of texts.
func (s *sieve) add(texts []string) uint32 {
	bit := uint32(1) << (s.used % 32)
	s.used++
	for _, t := range texts {
		if len(t) < sieveShort {
			s.always |= bit
			continue
		}
		for i := len(t) - sieveShort; i < len(t)-sieveShort+sieveStride; i++ { // the end of a text says more than its beginning
			s.windows[window(uint32(t[i])|uint32(t[i+1])<<8|uint32(t[i+2])<<16)] |= bit
		}
	}
	return bit
}

// read gives the bits of all that a line may hold.
func (s *sieve) read(line string) uint32 {
	bits := s.always
	i := 0
	for ; i+sieveStride <= len(line); i += sieveStride {
		bits |= s.windows[window((uint32(line[i])|uint32(line[i+1])<<8|uint32(line[i+2])<<16|uint32(line[i+3])<<24)&0xffffff)]
	}
	if i+sieveWindow <= len(line) {
		bits |= s.windows[window(uint32(line[i])|uint32(line[i+1])<<8|uint32(line[i+2])<<16)]
	}
	return bits
}

func window(bytes uint32) uint32 { return bytes * 0x9e3779b1 >> (32 - sieveBits) }
