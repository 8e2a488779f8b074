package accesslog

import (
	"encoding/json"
	"errors"
	"time"
)

// text is a JSON field whose value is a string in one release or configuration and a number in
// another. null, objects and lists are "".
type text string

// UnmarshalJSON never fails: a field of an unforeseen kind is no reason to lose the others.
func (t *text) UnmarshalJSON(b []byte) error {
	*t = ""
	if len(b) == 0 {
		return nil
	}
	switch b[0] {
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err == nil {
			*t = text(s)
		}
	case '{', '[', 'n', 't', 'f':
	default:
		*t = text(b)
	}
	return nil
}

// decode reads an object into v; keys and kinds that v doesn't know are passed over.
func decode(line string, v any) bool {
	err := json.Unmarshal([]byte(line), v)
	var kind *json.UnmarshalTypeError
	return err == nil || errors.As(err, &kind)
}

// envoyJSON are the fields under the names that Istio and Envoy Gateway give them.
type envoyJSON struct {
	Authority    text `json:"authority"`
	Authority2   text `json:":authority"`
	Code         text `json:"response_code"`
	Details      text `json:"response_code_details"`
	Duration     text `json:"duration"`
	Failure      text `json:"upstream_transport_failure_reason"`
	Flags        text `json:"response_flags"`
	Forwarded    text `json:"x_forwarded_for"`
	Forwarded2   text `json:"x-forwarded-for"`
	Method       text `json:"method"`
	Path         text `json:"path"`
	Path2        text `json:"x-envoy-origin-path"`
	Protocol     text `json:"protocol"`
	Remote       text `json:"downstream_remote_address"`
	RequestID    text `json:"request_id"`
	RequestID2   text `json:"x-request-id"`
	ServiceTime  text `json:"upstream_service_time"`
	ServiceTime2 text `json:"x-envoy-upstream-service-time"`
	SNI          text `json:"requested_server_name"`
	Start        text `json:"start_time"`
	Subject      text `json:"downstream_peer_subject"`
	Upstream     text `json:"upstream_host"`
}

func parseEnvoyJSON(line string) (Line, bool) {
	var j envoyJSON
	if !decode(line, &j) {
		return Line{}, false
	}
	l := Line{
		Proxy: Envoy, UpstreamKnown: true,
		Method: plain(string(j.Method)), Protocol: plain(string(j.Protocol)),
		Upstream: address(string(j.Upstream)), Duration: millis(string(j.Duration)),
		RequestID: first(j.RequestID, j.RequestID2), Host: first(j.Authority, j.Authority2, j.SNI),
		ClientAddress: peer(string(j.Remote)), ClientSubject: plain(string(j.Subject)),
		UpstreamError: plain(string(j.Failure)),
	}
	var ok bool
	if l.Status, ok = status(string(j.Code)); !ok {
		return Line{}, false
	}
	if l.Flags, ok = envoyFlags(string(j.Flags)); !ok {
		return Line{}, false
	}
	host := l.Host
	l.target(first(j.Path, j.Path2))
	if host != "" {
		l.Host = host
	}
	if l.ClientAddress == "" {
		l.ClientAddress = forwarder(first(j.Forwarded, j.Forwarded2))
	}
	if j.Details == "via_upstream" || first(j.ServiceTime, j.ServiceTime2) != "" {
		l.UpstreamStatus = l.Status
	}
	if t, err := time.Parse(time.RFC3339Nano, string(j.Start)); err == nil {
		l.Time = t.UTC()
	}
	return l, true
}

// first is the first field that holds something.
func first(fields ...text) string {
	for _, f := range fields {
		if s := plain(string(f)); s != "" {
			return s
		}
	}
	return ""
}
