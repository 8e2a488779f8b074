package accesslog

import "strings"

// isKlog looks for W0102 15:04:05.000000, as the ingress-nginx controller logs.
func isKlog(line string) bool {
	return (line[0] == 'W' || line[0] == 'E') && line[5] == ' ' && line[8] == ':' && line[11] == ':' && line[14] == '.'
}

// parseIngressError reads the controller's complaint of a service that nobody stands behind. It has no
// year, so the line has no time.
func parseIngressError(line string) (ErrorLine, bool) {
	_, message, ok := strings.Cut(line, "] ")
	if !ok {
		return ErrorLine{}, false
	}
	if !strings.Contains(message, "does not have any active Endpoint") {
		return ErrorLine{}, false
	}
	e := ErrorLine{Proxy: Ingress, Cause: NoUpstream, Message: message}
	if _, name, ok := strings.Cut(message, `Service "`); ok {
		e.Upstream, _, _ = strings.Cut(name, `"`)
	}
	return e, true
}
