package accesslog

import (
	"strings"
	"time"
)

// httpdWords are the messages of mod_proxy and mod_ssl, by the number that httpd gives each; an errno
// in parentheses goes before some of them.
var httpdWords = [...]wording{
	{[3]string{"(111)", "AH00957"}, UpstreamRefused},
	{[3]string{"AH00957"}, UpstreamUnreachable},
	{[3]string{"(111)", "AH02454"}, UpstreamRefused},
	{[3]string{"AH02454"}, UpstreamUnreachable},
	{[3]string{"AH01170"}, NoUpstream},
	{[3]string{"(70007)", "AH01102"}, UpstreamTimeout},
	{[3]string{"AH01102"}, UpstreamReset},
	{[3]string{"AH00898", "Error reading from remote server"}, UpstreamReset},
	{[3]string{"AH00898", "DNS lookup failure"}, UpstreamUnresolved},
	{[3]string{"AH02039", "certificate has expired"}, ClientExpired},
	{[3]string{"AH02039"}, ClientUntrusted},
	{[3]string{"AH02008"}, ClientTLS},
	{[3]string{"AH00484"}, ProxyExhausted},
}

// parseHttpdError reads
//
//	[Tue Apr 14 14:27:52.605084 2020] [proxy:error] [pid 1:tid 2] (111)Connection refused: [client a:1] AH00957: …
func parseHttpdError(line string) (ErrorLine, bool) {
	c := cursor{line}
	when, ok := c.enclosed('[', ']')
	if !ok || len(when) > 40 {
		return ErrorLine{}, false
	}
	t, err := time.Parse("Mon Jan _2 15:04:05 2006", when)
	if err != nil {
		return ErrorLine{}, false
	}
	e := ErrorLine{Proxy: Httpd, Time: t}
	for {
		if _, ok := c.enclosed('[', ']'); !ok {
			break
		}
	}
	e.Message = c.rest
	if before, after, ok := strings.Cut(c.rest, "[client "); ok {
		client, text, _ := strings.Cut(after, "]")
		e.ClientAddress, e.Message = peer(client), before+strings.TrimLeft(text, " ")
	} else if _, after, ok := strings.Cut(line, "[client "); ok {
		client, _, _ := strings.Cut(after, "]")
		e.ClientAddress = peer(client)
	}
	if e.Cause, ok = match(httpdWords[:], e.Message); !ok {
		return ErrorLine{}, false
	}
	if _, after, ok := strings.Cut(e.Message, "attempt to connect to "); ok {
		e.Upstream, _, _ = strings.Cut(after, " ")
	} else if _, after, ok := strings.Cut(e.Message, "remote server "); ok && strings.Contains(e.Message, "AH01102") {
		e.Upstream, _, _ = strings.Cut(after, " ")
	}
	return e, true
}
