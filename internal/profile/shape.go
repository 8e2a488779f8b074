package profile

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// shape is an expression of fixed length, such as a UUID after a byte that is no part of one: a class of
// bytes for each place, after an optional one that stands before and is not part of what is found. It
// finds what the expression finds, without its machinery: search for what is the same in every
// match, then look at the rest. Most identifiers in lines have such a form.
type shape struct {
	places []*class // of what is found, one a byte
	before *class   // of the byte before it, nil where anything may stand there
	edge   bool     // it may also stand at the very beginning of the text
	anchor string   // stands in every match …
	at     int      // … at this place
}

// class is a set of bytes.
type class [256]bool

const maxShape = 128 // bytes; longer expressions are left to regexp

// shapeOf gives the shape of an expression, nil for the many that have none: only literals, classes of
// ASCII characters and fixed repetitions of them have, one group around all but the byte before.
func shapeOf(expr string) *shape {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	s := &shape{}
	body := parsed
	if parsed.Op == syntax.OpConcat && len(parsed.Sub) == 2 && parsed.Sub[1].Op == syntax.OpCapture {
		if !s.precede(parsed.Sub[0]) {
			return nil
		}
		body = parsed.Sub[1].Sub[0]
	} else if parsed.Op == syntax.OpCapture {
		body = parsed.Sub[0]
	}
	if !s.append(body) || len(s.places) == 0 {
		return nil
	}
	s.findAnchor()
	if s.anchor == "" {
		return nil
	}
	return s
}

// findAnchor takes the longest text that is the same in every match, the first of those.
func (s *shape) findAnchor() {
	for i := 0; i < len(s.places); i++ {
		begin := i
		var text []byte
		for ; i < len(s.places); i++ {
			only, ok := s.places[i].only()
			if !ok {
				break
			}
			text = append(text, only)
		}
		if len(text) > len(s.anchor) {
			s.anchor, s.at = string(text), begin
		}
	}
}

// implies says whether every match holds one of these texts, so that nobody need look for them first.
func (s *shape) implies(texts []string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(s.anchor, t) })
}

// precede reads what stands before: (?:^|[^…]), or one class.
func (s *shape) precede(re *syntax.Regexp) bool {
	if re.Op == syntax.OpAlternate && len(re.Sub) == 2 && re.Sub[0].Op == syntax.OpBeginText {
		s.edge = true
		re = re.Sub[1]
	}
	if re.Op != syntax.OpCharClass || !negated(re) {
		return false // a class that leaves bytes beyond ASCII out would have to be read as runes
	}
	s.before = classOf(re)
	for c := 0x80; c < 0x100; c++ {
		s.before[c] = true // the last byte of any other character
	}
	return true
}

// negated says whether a class holds every character beyond ASCII.
func negated(re *syntax.Regexp) bool {
	n := len(re.Rune)
	return n >= 2 && re.Rune[n-2] <= 0x80 && re.Rune[n-1] == 0x10FFFF
}

func (s *shape) append(re *syntax.Regexp) bool {
	if re.Flags&syntax.FoldCase != 0 {
		return false
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r >= 0x80 {
				return false
			}
			var c class
			c[r] = true
			s.places = append(s.places, &c)
		}
	case syntax.OpCharClass:
		if n := len(re.Rune); n == 0 || re.Rune[n-1] >= 0x80 {
			return false
		}
		s.places = append(s.places, classOf(re))
	case syntax.OpRepeat:
		if re.Min != re.Max || re.Max > maxShape {
			return false
		}
		first := len(s.places)
		if re.Min == 0 || !s.append(re.Sub[0]) {
			return false
		}
		once := s.places[first:]
		for range re.Min - 1 {
			s.places = append(s.places, once...)
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !s.append(sub) {
				return false
			}
		}
	default:
		return false
	}
	return len(s.places) <= maxShape
}

// classOf is the ASCII part of a class.
func classOf(re *syntax.Regexp) *class {
	var c class
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1] && r < 0x80; r++ {
			c[r] = true
		}
	}
	return &c
}

// only is the one byte of a class, if it is one.
func (c *class) only() (one byte, ok bool) {
	n := 0
	for b, in := range c {
		if in {
			one = byte(b) //nolint:gosec // 0 to 255
			n++
		}
	}
	return one, n == 1
}

// next finds the first match that begins at from or later: text[start:start+len(s.places)]. A match, with
// the byte before it, does not reach into what precedes from. start is -1 where there is none.
func (s *shape) next(text string, from int) (start int) {
	for look := from + s.at; look < len(text); look++ {
		i := strings.Index(text[look:], s.anchor)
		if i < 0 {
			return -1
		}
		look += i
		start := look - s.at
		if start+len(s.places) > len(text) {
			return -1
		}
		if s.follows(text, start, from) && s.stands(text[start:start+len(s.places)]) {
			return start
		}
	}
	return -1
}

func (s *shape) follows(text string, start, from int) bool {
	switch {
	case s.before == nil:
		return true
	case start == 0:
		return s.edge
	case start == from:
		return false // the byte before belongs to the match before
	}
	return s.before[text[start-1]]
}

func (s *shape) stands(text string) bool {
	for i, c := range s.places {
		if !c[text[i]] {
			return false
		}
	}
	return true
}
