package accesslog

import "strings"

// noServer stands for a server in a line of a session that was given none.
const noServer = "<NOSRV>"

// parseHAProxy reads "option httplog", "option httpslog" and "option tcplog", with or without the header
// that syslog puts before them; at is where the time stands.
//
//	client:port [time] frontend backend/server TR/Tw/Tc/Tr/Ta status bytes cookie cookie state conns queues {captures} "request" …
//	client:port [time] frontend backend/server Tw/Tc/Tt bytes state conns queues
func parseHAProxy(line string, at int) (Line, bool) {
	l := Line{Proxy: HAProxy, UpstreamKnown: true}
	if !l.haproxyHead(line, at) {
		return Line{}, false
	}
	c := cursor{line[at+stampBytes+len(".633]"):]}
	_, _ = c.token() // frontend
	target, _ := c.token()
	timers, ok := c.token()
	backend, server, named := strings.Cut(target, "/")
	if !ok || !named || backend == "" {
		return Line{}, false
	}
	chosen := server != noServer && server != "" && server[0] != '<'
	if chosen {
		l.Upstream = target
	}
	switch strings.Count(timers, "/") {
	case 2:
		ok = l.haproxyTCP(&c, chosen)
	case 4:
		ok = l.haproxyHTTP(&c, chosen, timers)
	default:
		return Line{}, false
	}
	last := timers[strings.LastIndexByte(timers, '/')+1:]
	l.Duration = millis(strings.TrimPrefix(last, "+"))
	return l, ok
}

// haproxyHead reads client and time.
func (l *Line) haproxyHead(line string, at int) bool {
	if len(line) < at+stampBytes+5 || line[at+stampBytes+4] != ']' {
		return false
	}
	var ok bool
	if l.Time, ok = stamp(line[at : at+stampBytes+4]); !ok {
		return false
	}
	head := strings.TrimRight(line[:at-1], " ")
	client := head[strings.LastIndexByte(head, ' ')+1:]
	i := strings.LastIndexByte(client, ':')
	if i <= 0 || !digits(client[i+1:]) {
		return false
	}
	l.ClientAddress = strings.Trim(client[:i], "[]")
	return true
}

func (l *Line) haproxyTCP(c *cursor, chosen bool) bool {
	size, _ := c.token()
	state, ok := c.token()
	if !ok || !digits(strings.TrimPrefix(size, "+")) || len(state) != 2 {
		return false
	}
	l.Flags = haproxyFlags(state, chosen, "")
	return true
}

func (l *Line) haproxyHTTP(c *cursor, chosen bool, timers string) bool {
	code, _ := c.token()
	size, _ := c.token()
	_, _ = c.token() // captured request cookie
	_, _ = c.token() // captured response cookie
	state, _ := c.token()
	_, _ = c.token() // connections
	queues, ok := c.token()
	if !ok || !digits(strings.TrimPrefix(size, "+")) || len(state) != 4 || !strings.Contains(queues, "/") {
		return false
	}
	if l.Status, ok = status(code); !ok {
		return false
	}
	l.Flags = haproxyFlags(state[:2], chosen, code)
	// Tr is -1 as long as the server's headers weren't whole; then the status is HAProxy's own.
	before, _, _ := cutLast(timers, '/')
	if _, answer, _ := cutLast(before, '/'); chosen && digits(answer) {
		l.UpstreamStatus = l.Status
	}
	i := strings.IndexByte(c.rest, '"')
	if i < 0 {
		return true // cut off within the captures
	}
	// syslog may have cut the request off, quote and all.
	req, tail, _ := strings.Cut(c.rest[i+1:], `"`)
	l.request(req)
	l.haproxyTLS(tail)
	return true
}

// haproxyTLS reads the server name that httpslog adds: errors, then sni/version/cipher.
func (l *Line) haproxyTLS(tail string) {
	c := cursor{tail}
	errs, _ := c.token()
	names, ok := c.token()
	if !ok || strings.Count(errs, "/") != 4 {
		return
	}
	if sni, _, _ := strings.Cut(names, "/"); l.Host == "" {
		l.Host = plain(sni)
	}
}

// haproxyFlags translates a termination state; code decides where the proxy itself refused.
func haproxyFlags(state string, chosen bool, code string) string {
	switch {
	case state == "SC" && !chosen:
		return flags(HAProxy, "SC "+noServer)
	case state == "PR":
		return flags(HAProxy, "PR "+code)
	}
	return flags(HAProxy, state)
}
