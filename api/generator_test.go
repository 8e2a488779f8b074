package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// described is what the description says of requests.
type described struct {
	Paths map[string]map[string]struct {
		Parameters  []parameter `yaml:"parameters"`
		RequestBody *struct {
			Content map[string]struct {
				Schema shape `yaml:"schema"`
			} `yaml:"content"`
		} `yaml:"requestBody"`
	} `yaml:"paths"`
	Components struct {
		Parameters map[string]parameter `yaml:"parameters"`
		Schemas    map[string]yaml.Node `yaml:"schemas"`
	} `yaml:"components"`
}

type parameter struct {
	Ref    string `yaml:"$ref"`
	Name   string `yaml:"name"`
	In     string `yaml:"in"`
	Schema shape  `yaml:"schema"`
}

type shape struct {
	Ref        string           `yaml:"$ref"`
	Type       string           `yaml:"type"`
	Format     string           `yaml:"format"`
	Enum       []string         `yaml:"enum"`
	Minimum    *int             `yaml:"minimum"`
	Maximum    *int             `yaml:"maximum"`
	MaxLength  int              `yaml:"maxLength"`
	Pattern    string           `yaml:"pattern"`
	Items      *shape           `yaml:"items"`
	Required   []string         `yaml:"required"`
	Properties map[string]shape `yaml:"properties"`
}

// describedRequest is one path and method, its references resolved.
type describedRequest struct {
	method, path string
	parameters   []parameter
	body         *shape
}

func describedRequests(t *testing.T) []describedRequest {
	t.Helper()
	text, err := os.ReadFile("openapi.yaml")
	must(t, err)
	var d described
	must(t, yaml.Unmarshal(text, &d))
	var out []describedRequest
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			op := d.Paths[path][method]
			one := describedRequest{method: strings.ToUpper(method), path: path}
			for _, p := range op.Parameters {
				if p.Ref != "" {
					p = d.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
				}
				one.parameters = append(one.parameters, p)
			}
			if op.RequestBody != nil {
				var s shape
				ref := op.RequestBody.Content["application/json"].Schema.Ref
				node := d.Components.Schemas[ref[strings.LastIndex(ref, "/")+1:]]
				must(t, node.Decode(&s))
				one.body = &s
			}
			out = append(out, one)
		}
	}
	return out
}

// accepts says whether a value is what the shape describes. An empty one stands for none.
func (s shape) accepts(value string) bool {
	switch {
	case value == "":
		return true
	case s.Enum != nil:
		return slices.Contains(s.Enum, value)
	case s.Format == "date-time":
		_, err := time.Parse(time.RFC3339Nano, value)
		return err == nil
	case s.Type == "boolean":
		_, err := strconv.ParseBool(value)
		return err == nil
	case s.Type == "integer":
		n, err := strconv.Atoi(value)
		return err == nil && (s.Minimum == nil || n >= *s.Minimum) && (s.Maximum == nil || n <= *s.Maximum)
	case s.Type == "array":
		return s.Items.accepts(value)
	}
	return (s.MaxLength == 0 || utf8.RuneCountInString(value) <= s.MaxLength) && (s.Pattern == "" || regexp.MustCompile(s.Pattern).MatchString(value))
}

// known are values that lead somewhere in a platform of twoTenants.
var known = []string{
	"a-blue", "a-red", "a-none", "w-blue", "w-red", "k-blue", "k-red", "r-blue", "r-red", "r-none", "c-blue", "c-red", "i-blue", "n-7", "n-8",
	"aap/prod/job/1", "blue", "red", "aap", "provisioner", "failed", "requested", "active", "secret", "certificate", "retry", "allocation", "nobody",
}

// hostile are values that somebody may send who means no good, or whose program is broken.
var hostile = []string{
	" ", "\x00", "a\x00b", "\x1b[31m", "a\nb", "a\r\nX-Injected: 1", "\t", "\x7f", "' OR 1=1 --", "'; DROP TABLE events; --", `\'`, `\`, `a\x2dred`, `a\x2dblue`, `a-red\`, `"`, "`", "{id:String}", "{{.}}",
	"%", "%00", "%2e%2e%2f", "%zz", "_", "../../etc/passwd", ".", "..", "/", "a/b", "a?b#c", "ünïcödé", "\u202egnp", "\ufeff", strings.Repeat("😀", 50), "\xff\xfe", "a\xc3",
	"null", "true", "1", "0", "-1", "1e309", "NaN", "9223372036854775808", "-9223372036854775809", "0x10", "１", "[]", "{}", "a,b", "=", "=a", "a=", "a=b=c", "${env:HOME}", "<script>alert(1)</script>",
	"a-red", "w-red", "a-blue' AND tenant='red", "*", "||", ";", "&", strings.Repeat("x", 10_240), strings.Repeat("word ", 200), strings.Repeat("(", 500),
}

// cursors are parameters whose values come of an answer.
var cursors = []string{"cursor", "Last-Event-ID", "last_event_id"}

// edges are times at, and beyond, what can be asked for.
var edges = []string{
	"1900-01-01T00:00:00Z", "1899-12-31T23:59:59Z", "2261-12-31T23:59:59Z", "2262-04-12T00:00:00Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "1970-01-01T00:00:00Z",
	"2026-02-29T00:00:00Z", "2026-12-31T23:59:60Z", "2026-03-02T10:04:11.123456789+23:59", "2026-03-02T10:04:11-00:00", "2026-03-02", "2026-03-02T10:04:11", "1772445851", "now",
}

// generated is one request. It is tame where the description and the words of its parameters allow all of it, and outside where the
// description alone forbids some of it.
type generated struct {
	method, path, query string // path and query as they are sent
	described           string // a path that the description knows, "" where it does not know the request
	headers             [][2]string
	body                string
	tame, outside       bool
	stream, otherMethod bool
}

func (g generated) String() string {
	return fmt.Sprintf("%s %.300s?%.300s %.200q %.300q", g.method, g.path, g.query, g.headers, g.body)
}

// says is whether the request itself has a word, in whatever form.
func (g generated) says(word string) bool {
	path, _ := url.PathUnescape(g.path)
	query, _ := url.QueryUnescape(g.query)
	return strings.Contains(path+" "+query+" "+g.body+fmt.Sprint(g.headers), word)
}

// generator makes requests of a description; the same seed and number make the same one.
type generator struct {
	requests []describedRequest
	words    map[string][]string // values of some parameters, by name
	seed     uint64
}

func (g generator) request(number int) generated {
	r := rand.New(rand.NewPCG(g.seed, uint64(number)))
	of := pick(r, g.requests)
	out := generated{method: of.method, path: of.path, described: of.path, tame: r.IntN(3) == 0}
	out.stream = of.method == "GET" && strings.HasSuffix(of.path, "/events") && of.path != "/api/v1/events"
	query := url.Values{}
	one := g.oneIdentifier(r, of)
	for _, p := range of.parameters {
		given := p.In == "path" || r.IntN(2) == 0
		switch {
		case slices.Contains(cursors, p.Name) && out.tame: // is taken from an answer
			given = false
		case one != "" && strings.HasSuffix(p.Name, "_id") && p.In == "query" && (out.tame || r.IntN(4) > 0):
			given = p.Name == one
		case p.Name == "as_of": // reads and judges anew: dear
			given = r.IntN(6) == 0
		case p.Name == "Idempotency-Key" && out.tame, p.Name == "id" && p.In == "query":
			given = true
		}
		if !given {
			continue
		}
		value := g.value(r, p.Name, p.Schema, out.tame)
		if p.Name == "id" && strings.Contains(of.path, "{ref}") && r.IntN(2) == 0 {
			value = "a-blue" // whose references are known; of another there is no record by them
		}
		switch p.In {
		case "path":
			if value == "" || value == "." || value == ".." {
				value += "x" // another path
			}
			out.path = strings.ReplaceAll(out.path, "{"+p.Name+"}", url.PathEscape(value))
			out.described = strings.ReplaceAll(out.described, "{"+p.Name+"}", "x")
		case "header":
			value = strings.Map(func(r rune) rune {
				if r < ' ' || r > '~' {
					return 'x'
				}
				return r
			}, value)
			out.headers = append(out.headers, [2]string{p.Name, value})
			value = ""
		default:
			query.Add(p.Name, value)
			if p.Schema.Type == "array" && r.IntN(2) == 0 {
				query.Add(p.Name, g.value(r, p.Name, p.Schema, out.tame))
			} else if !out.tame && r.IntN(20) == 0 {
				query.Add(p.Name, g.value(r, p.Name, p.Schema, false))
			}
		}
		out.outside = out.outside || !p.Schema.accepts(value)
	}
	if out.query = query.Encode(); !out.tame {
		g.spoil(r, &out)
	}
	if of.body != nil {
		var fits bool
		out.body, fits = g.bodyOf(r, *of.body, out.tame)
		out.outside = out.outside || !fits && out.described != ""
	}
	return out
}

// oneIdentifier is which of several identifiers a request names, "" where it does not have to choose.
func (g generator) oneIdentifier(r *rand.Rand, of describedRequest) string {
	var names []string
	for _, p := range of.parameters {
		if strings.HasSuffix(p.Name, "_id") && p.In == "query" {
			names = append(names, p.Name)
		}
	}
	if len(names) < 2 {
		return ""
	}
	return pick(r, names)
}

func (g generator) value(r *rand.Rand, name string, s shape, tame bool) string {
	if kind := r.IntN(4); !tame && kind == 0 {
		return pick(r, hostile)
	} else if !tame && kind == 1 {
		return atTheBounds(r, s)
	}
	switch {
	case s.Enum != nil:
		return pick(r, s.Enum)
	case s.Format == "date-time":
		ago := time.Duration(r.Int64N(int64(3 * time.Minute)))
		if name == "from" {
			ago += 3 * time.Minute // before whatever it ends with
		}
		return time.Now().Add(-ago).In(time.FixedZone("", 3600*r.IntN(3))).Format(time.RFC3339Nano)
	case s.Type == "boolean":
		return strconv.FormatBool(r.IntN(2) == 0)
	case s.Type == "integer":
		return strconv.Itoa(1 + r.IntN(20))
	case name == "id" && r.IntN(2) == 0:
		return pick(r, []string{"a-blue", "a-red", "n-7"})
	case g.words[name] != nil:
		return pick(r, g.words[name])
	case name == "attr":
		return pick(r, []string{"node_id=n-7", "allocation_id=a-red", "allocation_id=a-blue", "tenant=red", "to=failed"})
	}
	return pick(r, known)
}

func atTheBounds(r *rand.Rand, s shape) string {
	switch {
	case s.Format == "date-time":
		return pick(r, edges)
	case s.Type == "integer":
		n := []int{0, 1, -1, 1 << 31, 1 << 62}
		if s.Minimum != nil {
			n = append(n, *s.Minimum, *s.Minimum-1)
		}
		if s.Maximum != nil {
			n = append(n, *s.Maximum, *s.Maximum+1)
		}
		return strconv.Itoa(pick(r, n))
	case s.MaxLength > 0:
		return strings.Repeat("x", max(1, s.MaxLength+r.IntN(3)-1))
	}
	return ""
}

// spoil makes a request into one that nobody would describe.
func (g generator) spoil(r *rand.Rand, out *generated) {
	switch r.IntN(16) {
	case 0:
		out.query += "&" + pick(r, []string{"%zz=1", "a;b", "=", "&&", "limit", "unknown=1", "state=%", "%00=%00", "last_event_id=x", "as_of=now"})
		_, err := url.ParseQuery(out.query)
		out.outside = out.outside || err != nil
	case 1:
		out.method, out.described, out.stream = pick(r, []string{"PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "POST", "PROPFIND"}), "", false
		out.outside, out.otherMethod = false, true
	case 2:
		out.path, out.described, out.stream = pick(r, []string{
			"/api/v1/nowhere", "/api/v1/", "/api/v1/openapi.yaml", "/api/v1/allocations/", "/api/v1/allocations//verdict", "/api/v1//rules", "/api/v1/allocations/a-red/raw/", "/API/v1/rules", "/api/v1/lookup/../rules",
		}), "", false
		out.outside = false
	case 3:
		out.headers = append(out.headers, [2]string{pick(r, []string{"If-None-Match", "Cookie", "X-Faultline-Request", "Accept-Encoding", "Range", "X-HTTP-Method-Override", "Content-Type"}),
			pick(r, []string{"*", `W/"x"`, "faultline_session=x", "1", "gzip", "bytes=0-1", "DELETE", "text/xml"})})
	}
}

// bodyOf makes a body: of properties as parameters are made, or of something else. fits says whether it is what the shape describes.
func (g generator) bodyOf(r *rand.Rand, s shape, tame bool) (body string, fits bool) {
	if !tame && r.IntN(4) == 0 {
		return pick(r, []string{
			"", "[", "null", `"x"`, "1", "{}", "[]", "{\"action\":\"retry\"", `{"action":"retry"} {"action":"wipe"}`, `{"action":"retry"}x`, `{"action":{"a":[1]}}`, "\x00", "\xff\xfe{}",
			strings.Repeat("[", 20_000), `{"action":"` + strings.Repeat("x", 10_240) + `"}`, `{"action":"retry","reason":"` + strings.Repeat("x", 2<<20) + `"}`,
		}), false
	}
	properties, fits := map[string]any{}, true
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if r.IntN(2) == 0 && !slices.Contains(s.Required, name) || !tame && r.IntN(10) == 0 {
			fits = fits && !slices.Contains(s.Required, name)
			continue
		}
		p := s.Properties[name]
		value := g.value(r, name, p, tame)
		var typed any = value
		if b, err := strconv.ParseBool(value); err == nil && p.Type == "boolean" {
			typed = b
		}
		if !tame && r.IntN(8) == 0 {
			typed = pick(r, []any{nil, 1.5, true, "x", []string{}, map[string]int{"a": 1}})
		}
		if text, ok := typed.(string); ok && (p.Type != "string" || !p.accepts(text)) {
			fits = false
		}
		properties[name] = typed
	}
	if !tame && r.IntN(8) == 0 {
		properties["unknown"], fits = 1, false
	}
	text, _ := json.Marshal(properties) // plain data
	return string(text), fits
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }
