package profile

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/accesslog"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// builtinAttributes are the spellings that every profile understands: the canonical key, its dotted
// form and the headers (docs/contract.md §1). Attribute names are compared in lower case.
func builtinAttributes() map[string]identity.Kind {
	out := map[string]identity.Kind{}
	for k := range identity.Kinds() {
		name := k.Attribute()
		out[name] = k
		out[strings.ReplaceAll(name, "_", ".")] = k
	}
	for header, k := range map[string]identity.Kind{
		semconv.HeaderCorrelationID: identity.Correlation,
		semconv.HeaderRequestID:     identity.Request,
	} {
		out[strings.ToLower(header)] = k
		out["http.request.header."+strings.ToLower(header)] = k
	}
	return out
}

// Attribute says which kind of identifier an attribute holds, NoKind for most.
func (p *Profile) Attribute(name string) identity.Kind {
	if k, ok := p.attributes[name]; ok {
		return k
	}
	for i := 0; i < len(name); i++ {
		if 'A' <= name[i] && name[i] <= 'Z' {
			return p.attributes[strings.ToLower(name)]
		}
	}
	return identity.NoKind
}

// Keys reads the identifiers that a record carries by itself: from its attributes, then its resource
// where the record says nothing of that kind, its trace, baggage, and the text of its line. Identifiers
// that cannot be one (over 512 bytes, control characters) are left out.
func (p *Profile) Keys(r *record.Record) identity.Keys {
	var out identity.Keys
	l := p.line(r.Service, r.Body)
	if p.ignored(&l) {
		return nil
	}
	out = p.fromAttrs(out, r.Attrs)
	out = p.fromResource(out, r.Resource)
	if len(p.values) > 0 && r.Signal == record.Log {
		for i := range r.Attrs {
			out = p.FromValue(out, r.Service, r.Attrs[i].Key, r.Attrs[i].Value)
		}
	}
	out = out.Add(identity.Trace, r.TraceID)
	return p.fromBody(out, r.Signal == record.Log, &l)
}

// FromLine adds the identifiers of a log record's line to those that stand elsewhere on it. ok is false
// where the profile ignores the whole record.
func (p *Profile) FromLine(out identity.Keys, service, line string) (keys identity.Keys, ok bool) {
	l := p.line(service, line)
	if p.ignored(&l) {
		return nil, false
	}
	return p.fromBody(out, true, &l), true
}

// HoldsNothing says, for next to nothing, that a log record's line holds no identifier and is not ignored.
// It may be wrong in saying that there is something.
func (p *Profile) HoldsNothing(service, line string) bool {
	return line == "" || p.prefilter.read(line[:min(len(line), maxTextBytes)]) == 0 && !p.proxies[service]
}

// line is a text to read identifiers from, and what it may hold.
type line struct {
	service, text string
	bits          uint32 // of the profile's prefilter
}

func (p *Profile) line(service, text string) line {
	text = text[:min(len(text), maxTextBytes)]
	return line{service, text, p.prefilter.read(text)}
}

// prepare fills the prefilter and the catalog's index, once all patterns, fields and rules are known.
func (p *Profile) prepare() {
	p.indexCatalog()
	p.prefilter = prefilter{}
	for _, patterns := range [][]pattern{p.patterns, p.ignore, p.except} {
		for i := range patterns {
			patterns[i].bit = p.prefilter.add(patterns[i].literals)
		}
	}
	p.named = p.prefilter.add(slices.Collect(maps.Keys(p.fields.kinds)))
}

func (p *Profile) fromBody(out identity.Keys, log bool, l *line) identity.Keys {
	if l.text == "" {
		return out
	}
	if log && p.proxies[l.service] && out.First(identity.Request) == "" {
		if access, ok := accesslog.Parse(l.text); ok {
			out = out.Add(identity.Request, access.RequestID)
		}
	}
	return p.fromText(out, l)
}

func (p *Profile) fromAttrs(out identity.Keys, attrs record.Attrs) identity.Keys {
	for pass := range 2 { // canonical spellings first: they win where two disagree
		for i := range attrs {
			k := p.Attribute(attrs[i].Key)
			if k == identity.NoKind {
				if pass == 1 && isBaggage(attrs[i].Key) {
					out = p.fromBaggage(out, attrs[i].Value)
				}
				continue
			}
			if canonical := attrs[i].Key == k.Attribute(); canonical == (pass == 0) && (canonical || out.First(k) == "") {
				out = out.Add(k, unlisted(attrs[i].Value))
			}
		}
	}
	return out
}

func (p *Profile) fromResource(out identity.Keys, attrs record.Attrs) identity.Keys {
	for _, key := range p.fromAttrs(nil, attrs) {
		if out.First(key.Kind) == "" {
			out = out.Add(key.Kind, key.ID)
		}
	}
	return out
}

func isBaggage(name string) bool {
	return strings.EqualFold(name, semconv.HeaderBaggage) || strings.EqualFold(name, "http.request.header.baggage")
}

// fromBaggage reads W3C baggage: members separated by commas, each name=value;properties, percent-encoded.
func (p *Profile) fromBaggage(out identity.Keys, text string) identity.Keys {
	for member := range strings.SplitSeq(unlisted(text), ",") {
		member, _, _ = strings.Cut(member, ";")
		name, value, ok := strings.Cut(strings.TrimSpace(member), "=")
		if !ok {
			continue
		}
		k := p.Attribute(strings.TrimSpace(name))
		if k == identity.NoKind || out.First(k) != "" {
			continue
		}
		if plain, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
			out = out.Add(k, plain)
		}
	}
	return out
}

// unlisted takes the one value out of a list of one, as HTTP header attributes are lists: ["x"].
func unlisted(v string) string {
	if len(v) >= 4 && v[0] == '[' && strings.HasPrefix(v, `["`) && strings.HasSuffix(v, `"]`) && strings.Count(v, `"`) == 2 {
		return v[2 : len(v)-2]
	}
	return v
}

// maxTextBytes bounds what is searched for identifiers in one line; they stand near its beginning.
const maxTextBytes = 64 << 10

// FromText adds the identifiers that stand in a line: in the profile's fields, and where its patterns
// match. A pattern's first group is the identifier, or its whole match where it has no group. A line
// does not contradict what the record states: out keeps its one allocation, node and node instance.
func (p *Profile) FromText(out identity.Keys, service, text string) identity.Keys {
	l := p.line(service, text)
	return p.fromText(out, &l)
}

func (p *Profile) fromText(out identity.Keys, l *line) identity.Keys {
	if l.bits == 0 {
		return out
	}
	text := l.text
	if l.bits&p.named != 0 {
		out = p.fields.find(out, text)
	}
	if len(p.patterns) == 0 {
		return out
	}
	stated := kindsOf(out)
	excepted := p.excepted(l)
	for i := range p.patterns {
		pt := &p.patterns[i]
		if stated.has(pt.kind) && single.has(pt.kind) || !pt.mayMatch(l) {
			continue
		}
		if pt.shape != nil && pt.id == "" {
			out = pt.shaped(out, text, excepted)
			continue
		}
		for _, m := range pt.re.FindAllStringSubmatchIndex(text, identity.MaxKeysPerRecord+1) {
			if id := group(text, m); !slices.Contains(excepted, id) {
				out = out.Add(pt.kind, pt.made(text, id, m))
			}
		}
	}
	return out
}

// shaped adds what an expression of fixed length finds.
func (p *pattern) shaped(out identity.Keys, text string, excepted []string) identity.Keys {
	from := 0
	for range identity.MaxKeysPerRecord + 1 {
		start := p.shape.next(text, from)
		if start < 0 {
			break
		}
		from = start + len(p.shape.places)
		if id := text[start:from]; !slices.Contains(excepted, id) {
			out = out.Add(p.kind, id)
		}
	}
	return out
}

// mayMatch is what a line costs that does not match: hardly anything.
func (p *pattern) mayMatch(l *line) bool {
	return l.bits&p.bit != 0 && (p.service == "" || wildcard(p.service, l.service)) && (p.implied || containsAny(l.text, p.literals))
}

// FromValue adds the identifiers that the profile's patterns find in the value of an attribute, such as
// {"name":"vm-1","namespace":"lab"} where a controller names the object that it works on.
func (p *Profile) FromValue(out identity.Keys, service, name, value string) identity.Keys {
	patterns, ok := p.values[name]
	if !ok || len(value) > maxTextBytes {
		return out
	}
	for i := range patterns {
		pt := &patterns[i]
		if pt.service != "" && !wildcard(pt.service, service) || len(pt.literals) > 0 && !containsAny(value, pt.literals) {
			continue
		}
		if m := pt.re.FindStringSubmatchIndex(value); m != nil {
			out = out.Add(pt.kind, pt.made(value, group(value, m), m))
		}
	}
	return out
}

// ReadsValue says whether FromValue could find anything in an attribute of that name.
func (p *Profile) ReadsValue(name string) bool { return len(p.values[name]) > 0 }

// made is the identifier as the profile writes it.
func (p *pattern) made(text, found string, m []int) string {
	if p.id == "" || found == "" {
		return found
	}
	return string(p.re.ExpandString(nil, p.id, text, m))
}

// group is a match's first group, or all of it where the expression has none.
func group(line string, m []int) string {
	from, to := m[0], m[1]
	if len(m) > 2 {
		from, to = m[2], m[3]
	}
	if from < 0 {
		return ""
	}
	return line[from:to]
}

// excepted lists the identifiers in a line that stand where shared things are named.
func (p *Profile) excepted(l *line) []string {
	var out []string
	for i := range p.except {
		pt := &p.except[i]
		if !pt.mayMatch(l) {
			continue
		}
		for _, m := range pt.re.FindAllStringSubmatchIndex(l.text, identity.MaxKeysPerRecord+1) {
			out = append(out, group(l.text, m))
		}
	}
	return out
}

// stands says whether the expression matches anywhere.
func (p *pattern) stands(text string) bool {
	if p.shape != nil {
		return p.shape.next(text, 0) >= 0
	}
	return p.re.MatchString(text)
}

// ignored says whether the profile knows a line as one that belongs to no allocation.
func (p *Profile) ignored(l *line) bool {
	for i := range p.ignore {
		if p.ignore[i].mayMatch(l) && p.ignore[i].stands(l.text) {
			return true
		}
	}
	return false
}

func containsAny(line string, literals []string) bool {
	for _, l := range literals {
		if strings.Contains(line, l) {
			return true
		}
	}
	return false
}
