package accesslog

import "strings"

// parseCLF reads the common log format and all that grew out of it; at is where the time stands:
//
//	common         client ident user [time] "request" status bytes
//	combined       … "referer" "agent"
//	nginx main     … "forwarded for" or "gzip ratio"
//	ingress-nginx  … length time [service] [alternative]? upstream length time status id
//	Traefik        … count "router" "server" 3ms
//	APISIX         host "request" status bytes time "referer" "agent" upstream status time
func parseCLF(line string, at int) (Line, bool) {
	end := strings.IndexByte(line[at:], ']')
	if end < 0 {
		return Line{}, false
	}
	time, ok := stamp(line[at : at+end])
	if !ok {
		return Line{}, false
	}
	l, ok := parseCLFRequest(line[:at-1], line[at+end+1:])
	l.Time = time
	return l, ok
}

// parseCLFRequest reads what stands before the time, and behind it.
func parseCLFRequest(head, rest string) (Line, bool) {
	l := Line{Proxy: CLF}
	if !l.clfHead(head) {
		return Line{}, false
	}
	c := cursor{rest}
	req, ok := c.quoted()
	if !ok { // APISIX writes the host before the request
		c = cursor{rest}
		l.Host, _ = c.token()
		if req, ok = c.quoted(); !ok {
			return Line{}, false
		}
		l.Proxy = APISIX
	}
	l.request(req)
	code, _ := c.token()
	size, ok := c.token()
	if l.Status, _ = status(code); !ok || !isStatus(code) || !digits(size) && size != "-" {
		return Line{}, false
	}
	if code == "-" {
		l.Proxy = Httpd
	}
	if l.Proxy == APISIX {
		return l, l.apisixTail(&c)
	}
	l.clfTail(&c, size)
	if l.Status == 499 && l.Proxy == CLF {
		l.Proxy = Nginx
	}
	if l.Proxy == Nginx && l.Status == 499 {
		l.Flags = flags(Nginx, says499)
	}
	return l, true
}

// clfHead reads the client, behind a syslog header or httpd's virtual host where there is one.
func (l *Line) clfHead(head string) bool {
	if i := strings.LastIndex(head, ": "); i >= 0 {
		head = head[i+2:]
	}
	c := cursor{head}
	client, _ := c.token()
	ident, ok := c.token()
	if !ok {
		return false
	}
	if host, port, named := cutLast(client, ':'); named && digits(port) && ident != "-" {
		if next, _ := c.token(); next == "-" {
			l.Host, client = host, ident
		}
	}
	l.ClientAddress = plain(client)
	return true
}

func cutLast(s string, mark byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, mark)
	if i <= 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// clfTail reads what stands behind the common format. A tail that is cut off or of another's making
// leaves the line what it was until there.
func (l *Line) clfTail(c *cursor, size string) {
	if _, ok := c.quoted(); !ok { // referer
		return
	}
	if _, ok := c.quoted(); !ok { // agent
		return
	}
	if c.skip(); c.rest == "" {
		return
	}
	if c.rest[0] == '"' {
		if _, ok := c.quoted(); ok && strings.TrimLeft(c.rest, " ") == "" {
			l.Proxy = Nginx
		}
		return
	}
	count, _ := c.token()
	if !digits(count) && count != "-" {
		return
	}
	c.skip()
	if strings.HasPrefix(c.rest, `"`) {
		l.traefikTail(*c, size)
		return
	}
	l.ingressTail(*c)
}

// apisixTail reads what APISIX writes behind the size: how long it took, who asked, and which back end answered.
func (l *Line) apisixTail(c *cursor) bool {
	took, _ := c.token()
	if _, ok := c.quoted(); !ok {
		return false
	}
	_, _ = c.quoted() // some leave the referer out
	upstream, ok := c.token()
	if !ok {
		return false
	}
	l.Duration, l.UpstreamKnown = seconds(took), true
	if isAddress(upstream) {
		l.Upstream = address(upstream)
	}
	code, _ := c.token()
	if answer, ok := status(code); ok {
		l.UpstreamStatus = answer
	}
	if l.Status == 499 {
		l.Flags = flags(Nginx, says499)
	}
	return true
}
