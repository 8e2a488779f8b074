package accesslog

import (
	"strconv"
	"strings"
	"time"
)

// albTypes begin a line of an Application Load Balancer.
var albTypes = []string{"http ", "https ", "h2 ", "grpcs ", "ws ", "wss "}

func isALB(line string) bool {
	for _, t := range albTypes {
		if strings.HasPrefix(line, t) {
			return true
		}
	}
	return false
}

// parseALB reads an access line of AWS's Application Load Balancer (its user guide, "Access logs for your Application Load Balancer"):
//
//	type time elb client:port target:port request_time target_time response_time elb_status target_status received sent "request" "agent" …
func parseALB(line string) (Line, bool) {
	l := Line{Proxy: ALB, UpstreamKnown: true}
	c := cursor{line}
	_, _ = c.token() // type
	at, _ := c.token()
	began, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return Line{}, false
	}
	_, _ = c.token() // name of the load balancer
	client, _ := c.token()
	target, _ := c.token()
	took := [3]string{} // seconds; -1 where it did not come to that
	for i := range took {
		took[i], _ = c.token()
	}
	status, _ := c.token()
	answered, _ := c.token()
	_, _ = c.token() // received bytes
	_, _ = c.token() // sent bytes
	request, ok := c.quoted()
	if !ok || !digits(status) && status != "-" {
		return Line{}, false
	}
	for _, t := range took {
		seconds, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return Line{}, false
		}
		if seconds > 0 {
			l.Duration += time.Duration(seconds * float64(time.Second))
		}
	}
	l.Time, l.ClientAddress = began.UTC(), peer(client)
	l.Status, _ = strconv.Atoi(status)
	l.UpstreamStatus, _ = strconv.Atoi(answered)
	if target != "-" {
		l.Upstream = target
	}
	l.request(request)
	switch {
	case l.Upstream == "" && l.Status == 503:
		l.Flags = "UH" // no target is registered, or none is healthy
	case l.Upstream != "" && l.UpstreamStatus == 0 && l.Status == 504:
		l.Flags = "UT" // the target did not answer in time
	}
	return l, true
}
