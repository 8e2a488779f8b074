package accesslog

import "strings"

// address is a back end without scheme and path, so that the same one reads the same whichever proxy
// names it: http://10.0.0.1:80/x, tcp://10.0.0.1:80 and 10.0.0.1:80 are 10.0.0.1:80.
func address(s string) string {
	s = plain(s)
	if i := strings.Index(s, "://"); i >= 0 && i <= 8 {
		s = s[i+3:]
	}
	if socket, ok := strings.CutPrefix(s, "unix:"); ok {
		// nginx closes the name of a socket with a colon before what is asked of it.
		if i := strings.IndexByte(socket, ':'); i >= 0 {
			return s[:len("unix:")+i]
		}
		return s
	}
	if i := strings.IndexByte(s, '/'); i > 0 {
		s = s[:i]
	}
	return s
}

// peer is an address without its port and the brackets of IPv6.
func peer(s string) string {
	s = plain(s)
	if strings.HasPrefix(s, "[") {
		if i := strings.IndexByte(s, ']'); i > 0 {
			return s[1:i]
		}
		return s
	}
	// HAProxy writes ::1:5000 without brackets: it always names a port.
	if i := strings.LastIndexByte(s, ':'); i > 0 && digits(s[i+1:]) && strings.IndexByte(s, ':') == i {
		return s[:i]
	}
	return s
}

// forwarder is the last address of an X-Forwarded-For: the one that the proxy saw itself, where those
// before it are hearsay.
func forwarder(s string) string {
	if i := strings.LastIndexByte(s, ','); i >= 0 {
		s = s[i+1:]
	}
	return plain(strings.TrimSpace(s))
}
