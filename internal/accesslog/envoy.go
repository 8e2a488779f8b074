package accesslog

import (
	"strings"
	"time"
)

// isEnvoy looks for the start of Envoy's line: [2016-04-15T20:17:00.310Z] "
func isEnvoy(line string) bool {
	if line[5] != '-' || line[8] != '-' || line[11] != 'T' {
		return false
	}
	head := line[:min(len(line), 40)]
	i := strings.IndexByte(head, ']')
	return i > 0 && strings.HasPrefix(line[i:], `] "`)
}

// parseEnvoy reads Envoy's default format, and Istio's, which has more fields in the middle and at
// the end:
//
//	[time] "request" code flags              received sent duration service-time "xff" "agent" "id" "authority" "host"
//	[time] "request" code flags details… "…" received sent duration service-time "xff" "agent" "id" "authority" "host" cluster local downstream-local downstream-remote sni route
//
// Envoy doesn't escape what it quotes. A client can put quotes into its user agent, so the fields
// behind the agent are read from the right.
func parseEnvoy(line string) (Line, bool) {
	end := strings.IndexByte(line, ']')
	t, err := time.Parse(time.RFC3339Nano, line[1:end])
	if err != nil {
		return Line{}, false
	}
	l, ok := parseEnvoyRequest(line[end+1:])
	l.Time = t.UTC()
	return l, ok
}

// parseEnvoyRequest reads what stands behind the time.
func parseEnvoyRequest(line string) (Line, bool) {
	l := Line{Proxy: Envoy, UpstreamKnown: true}
	c := cursor{line}
	req, ok := c.quoted()
	if !ok {
		return Line{}, false
	}
	l.request(req)
	code, _ := c.token()
	word, ok := c.token()
	if l.Status, _ = status(code); !ok || !isStatus(code) {
		return Line{}, false
	}
	if l.Flags, ok = envoyFlags(word); !ok {
		return Line{}, false
	}
	if !l.envoyCounts(&c) {
		return Line{}, false
	}
	return l, l.envoyTail(strings.TrimLeft(c.rest, " "))
}

func isStatus(s string) bool {
	_, ok := status(s)
	return ok
}

// envoyCounts reads the fields between the flags and the first quoted header.
func (l *Line) envoyCounts(c *cursor) bool {
	first, ok := c.token()
	if !ok {
		return false
	}
	details := ""
	if !digits(first) {
		// Istio: details, termination details and "transport failure"; in old releases "…" "…".
		i := countsAt(c.rest)
		if i < 0 {
			return false
		}
		details, l.UpstreamError, c.rest = first, failure(c.rest[:i]), c.rest[i:]
		first, ok = c.token()
	}
	sent, _ := c.token()
	took, _ := c.token()
	served, _ := c.token()
	if !ok || !digits(first) || !digits(sent) || !digits(took) {
		return false
	}
	l.Duration = millis(took)
	// The router adds the service time to an answer that came from upstream, and to no other.
	if digits(served) || details == "via_upstream" {
		l.UpstreamStatus = l.Status
	}
	return true
}

// countsAt is where the counts begin: behind the first closing quote that a digit follows.
func countsAt(s string) int {
	for at := 0; ; {
		i := strings.Index(s[at:], `" `)
		if i < 0 {
			return -1
		}
		at += i + 2
		if at < len(s) && s[at] >= '0' && s[at] <= '9' {
			return at
		}
	}
}

// failure is the quoted reason at the end of s.
func failure(s string) string {
	s = strings.TrimSuffix(strings.TrimRight(s, " "), `"`)
	return plain(s[strings.LastIndexByte(s, '"')+1:])
}

// envoyTail reads "xff" "agent" "id" "authority" "host" and what Istio adds.
func (l *Line) envoyTail(s string) bool {
	end := strings.LastIndexByte(s, '"')
	if end <= 0 || s[0] != '"' {
		return false
	}
	extra := cursor{s[end+1:]}
	s = s[1:end]
	var right [3]string // host, authority, id
	for i := range right {
		at := strings.LastIndex(s, `" "`)
		if at < 0 {
			return false
		}
		right[i], s = s[at+3:], s[:at]
	}
	via, _, ok := strings.Cut(s, `" "`)
	if !ok {
		return false
	}
	l.Upstream = address(right[0])
	if host := plain(right[1]); host != "" {
		l.Host = host
	}
	l.RequestID = plain(right[2])
	l.ClientAddress = forwarder(via)
	for range 3 { // cluster, local address, downstream local address
		if _, ok := extra.token(); !ok {
			return true
		}
	}
	if remote, ok := extra.token(); ok && remote != "-" {
		l.ClientAddress = peer(remote)
	}
	if sni, ok := extra.token(); ok && l.Host == "" {
		l.Host = plain(sni)
	}
	return true
}

// envoyFlags are flags as Envoy writes them, long names shortened; false for what can't be flags.
func envoyFlags(s string) (string, bool) {
	if s == "-" || s == "" {
		return "", true
	}
	long := false
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b >= 'A' && b <= 'Z', b == ',', b >= '0' && b <= '9':
		case b >= 'a' && b <= 'z':
			long = true
		default:
			return "", false
		}
	}
	if len(s) > 512 {
		return "", false
	}
	if !long {
		return s, true
	}
	names := strings.Split(s, ",")
	for i, name := range names {
		for _, row := range longFlags {
			if row[0] == name {
				names[i] = row[1]
			}
		}
	}
	return strings.Join(names, ","), true
}
