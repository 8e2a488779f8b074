package accesslog

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// wildPath is where a collection of other parsers' test lines may lie beside the checkout.
const wildPath = "shared/data/ingress-lines/lines.jsonl"

// wild finds the collection above this package.
func wild(t *testing.T) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		path := filepath.Join(dir, wildPath)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skipf("NOT TESTED: no %s beside the checkout", wildPath)
		}
		dir = up
	}
}

var (
	wildHAProxy = regexp.MustCompile(` (\S+)/(\S+) [-\d/+]+ (\d{3}) \d+ - - \S{4} `)
	wildTCP     = regexp.MustCompile(` (\S+)/(\S+) -?\d+/-?\d+/\+?\d+ \d+ [A-Za-z-]{2} `)
	wildHttpd   = regexp.MustCompile(`\] "[^"]*" (\d{3}|-) `)
)

func TestWild(t *testing.T) {
	f, err := os.Open(wild(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		var in struct {
			Source, Case, Line string
			Expected           map[string]string
			OK                 *bool `json:"parse_ok"`
		}
		if err := json.Unmarshal(s.Bytes(), &in); err != nil {
			t.Fatal(err)
		}
		l, ok := Parse(in.Line)
		e, failed := ParseError(in.Line)
		if ok && failed {
			t.Errorf("both an access and an error line: %s", in.Line)
		}
		want, isAccess := expectation(in.Line, in.Expected)
		if in.OK != nil && !*in.OK || !isAccess {
			if ok {
				t.Errorf("understood %+v: %s", l, in.Line)
			}
			// Some of the collection's lines are cut off before the client.
			if client := in.Expected["client"]; failed && strings.Contains(in.Line, client) && e.ClientAddress != client {
				t.Errorf("client %q, want %q: %s", e.ClientAddress, client, in.Line)
			}
			continue
		}
		read++
		got := Line{Status: l.Status, Upstream: l.Upstream, UpstreamStatus: l.UpstreamStatus, RequestID: l.RequestID}
		if want.UpstreamStatus == 0 {
			got.UpstreamStatus = 0
		}
		if !ok || got != want {
			t.Errorf("%v %+v, want %+v: %s", ok, got, want, in.Line)
		}
		if client := in.Expected["client"] + in.Expected["remote_addr"]; client != "" && l.ClientAddress != client {
			t.Errorf("client %q, want %q: %s", l.ClientAddress, client, in.Line)
		}
		if req := in.Expected["request"]; strings.HasPrefix(req, "GET ") && l.Method+" "+l.Path+" "+l.Protocol != req {
			t.Errorf("request %q %q %q, want %q", l.Method, l.Path, l.Protocol, req)
		}
	}
	if read < 24 {
		t.Errorf("%d access lines read, want at least 24", read)
	}
}

// expectation is what the collection expects of an access line, or, where it doesn't say, what the
// line's own fields spell; false for what is no access line.
func expectation(line string, fields map[string]string) (Line, bool) {
	atoi := func(s string) int { n, _ := strconv.Atoi(s); return n }
	server := func(backend, name string) string {
		if name == noServer {
			return ""
		}
		return backend + "/" + name
	}
	if fields["status"] != "" {
		return Line{
			Status: atoi(fields["status"]), RequestID: fields["req_id"],
			Upstream: plain(fields["upstream_addr"]), UpstreamStatus: atoi(fields["upstream_status"]),
		}, true
	}
	if m := wildHAProxy.FindStringSubmatch(line); m != nil {
		return Line{Status: atoi(m[3]), Upstream: server(m[1], m[2])}, true
	}
	if m := wildTCP.FindStringSubmatch(line); m != nil {
		return Line{Upstream: server(m[1], m[2])}, true
	}
	if m := wildHttpd.FindStringSubmatch(line); m != nil {
		return Line{Status: atoi(m[1])}, true
	}
	return Line{}, false
}
