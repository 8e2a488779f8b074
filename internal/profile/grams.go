package profile

// grams is the set of pairs of bytes in a text, folded into 256 bits. A text that holds another has all
// of its pairs: one pass over a line spares nearly all searches in it.
type grams [4]uint64

// gramBytes bounds the lines for which it is worth it; longer ones hold nearly every pair.
const gramBytes = 1 << 10

func gramsOf(s string) (g grams) {
	for i := 1; i < len(s); i++ {
		h := (uint32(s[i-1])*131 + uint32(s[i])*31) >> 1
		g[h>>6&3] |= 1 << (h & 63)
	}
	return g
}

func (g *grams) hold(of *grams) bool {
	return of[0]&^g[0]|of[1]&^g[1]|of[2]&^g[2]|of[3]&^g[3] == 0
}

// line is a text with its pairs.
type line struct {
	text  string
	grams grams
	short bool // grams are known
}

// lineOf reads the pairs where enough is searched for that they pay.
func lineOf(text string, searches int) line {
	l := line{text: text, short: len(text) <= gramBytes && searches >= 6}
	if l.short {
		l.grams = gramsOf(text)
	}
	return l
}
