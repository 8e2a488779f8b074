package accesslog

import (
	"strings"
	"time"
)

// The lengths of what Traefik writes itself where no server answered; a server's own 502 has another
// length, or says so in UpstreamStatus.
var traefikBodies = [...]struct {
	status int
	size   string
	says   string
}{
	{502, "11", says502},
	{504, "15", says504},
	{503, "20", says503},
	{503, "19", saysBreaker},
}

// traefikTail reads "router" "server" 3ms.
func (l *Line) traefikTail(c cursor, size string) {
	router, _ := c.quoted()
	server, ok := c.quoted()
	if !ok {
		return
	}
	took, _ := c.token()
	ms, ok := strings.CutSuffix(took, "ms")
	if !ok || !digits(ms) {
		return
	}
	l.Proxy, l.UpstreamKnown = Traefik, true
	l.Duration = millis(ms)
	l.Upstream = address(server)
	if l.Upstream != "" {
		l.UpstreamStatus = l.Status
	}
	l.traefikFlags(plain(router), size)
}

// traefikJSON are the fields of Traefik's JSON format that are read; ServiceURL is a string in some
// releases and an object in others, ServiceAddr is in all.
type traefikJSON struct {
	ClientHost            text
	DownstreamStatus      text
	DownstreamContentSize text
	Duration              text // nanoseconds
	OriginStatus          text
	RequestHost           text
	RequestMethod         text
	RequestPath           text
	RequestProtocol       text
	RouterName            text
	ServiceAddr           text
	ServiceURL            text
	StartUTC              text
	TLSClientSubject      text
	RequestID             text `json:"request_X-Request-Id"`
	RequestIDUpper        text `json:"request_X-Request-ID"`
}

func parseTraefikJSON(line string) (Line, bool) {
	var j traefikJSON
	if !decode(line, &j) {
		return Line{}, false
	}
	l := Line{
		Proxy: Traefik, UpstreamKnown: true,
		Method: plain(string(j.RequestMethod)), Protocol: plain(string(j.RequestProtocol)),
		Host: plain(string(j.RequestHost)), ClientAddress: plain(string(j.ClientHost)),
		ClientSubject: string(j.TLSClientSubject), RequestID: string(j.RequestID),
		Upstream: address(string(j.ServiceAddr)),
	}
	var ok bool
	if l.Status, ok = status(string(j.DownstreamStatus)); !ok {
		return Line{}, false
	}
	if l.RequestID == "" {
		l.RequestID = string(j.RequestIDUpper)
	}
	if l.Upstream == "" {
		l.Upstream = address(string(j.ServiceURL))
	}
	l.target(string(j.RequestPath))
	if l.Upstream != "" {
		l.UpstreamStatus, _ = status(string(j.OriginStatus))
	}
	if ns, err := time.ParseDuration(string(j.Duration) + "ns"); err == nil && ns > 0 {
		l.Duration = ns
	}
	if t, err := time.Parse(time.RFC3339Nano, string(j.StartUTC)); err == nil {
		l.Time = t.UTC()
	}
	l.traefikFlags(string(j.RouterName), string(j.DownstreamContentSize))
	return l, true
}

func (l *Line) traefikFlags(router, size string) {
	says := ""
	switch {
	case l.Status == 499:
		says, l.UpstreamStatus = says499, 0
	case l.Upstream == "" && l.Status == 404 && router == "":
		says = says404
	case l.Upstream == "" && l.Status == 401:
		says = says401
	case l.Upstream == "" && l.Status == 429:
		says = says429
	default:
		for _, b := range traefikBodies {
			if b.status == l.Status && b.size == size && (b.status == 503) == (l.Upstream == "") {
				says, l.UpstreamStatus = b.says, 0
			}
		}
	}
	if says != "" {
		l.Flags = flags(Traefik, says)
	}
}
