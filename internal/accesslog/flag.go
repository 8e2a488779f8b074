package accesslog

// Envoy's response flags, which say in one vocabulary why a proxy answered by itself
// (envoyproxy.io, access logging, %RESPONSE_FLAGS%).
const (
	NoHealthyUpstream       = "UH"
	UpstreamConnectFailure  = "UF"
	UpstreamOverflow        = "UO"
	NoRoute                 = "NR"
	UpstreamRequestTimeout  = "UT"
	UpstreamTermination     = "UC"
	UpstreamProtocolError   = "UPE"
	LocalReset              = "LR"
	DownstreamTermination   = "DC"
	DownstreamProtocolError = "DPE"
	StreamIdleTimeout       = "SI"
	RateLimited             = "RL"
	Unauthorised            = "UAEX"
	DNSFailure              = "DF"
	Overload                = "OM"

	// NoAnswer is "UF or UC": the back end was chosen and not one byte of an answer came. Proxies that
	// only say 502 don't tell a refused connection from a reset one; their error lines do.
	NoAnswer = UpstreamConnectFailure + "," + UpstreamTermination
)

// mapping is one row of the translation into Envoy's flags.
type mapping struct {
	proxy string // whose word it is
	says  string // a termination state, or the case in words
	flags string
	why   string
}

// The cases that are no termination states.
const (
	says499       = "499"
	says401       = "401 without a back end"
	says503       = "503 without a back end"
	says404       = "404 without a route"
	says502       = "502, no body from the back end"
	says504       = "504, no body from the back end"
	saysGroup     = "a group's name in place of an address"
	saysBreaker   = "503 Service Unavailable without a back end"
	says429       = "429 without a back end"
	saysNoServers = "has no server available"
)

// mappings is the whole translation, read only; Envoy's own flags are kept as they are, its long names
// shortened (longFlags). HAProxy's rows follow its manual, section 8.5 "Session state at
// disconnection": first character who ended the session (capital: abort, small: timeout), second in
// which phase. The row with <NOSRV> applies where no server had been chosen; a status behind PR is the one that was sent.
var mappings = [...]mapping{
	{Nginx, says499, DownstreamTermination, "nginx's own status for a client that closed before the answer"},
	{Ingress, says499, DownstreamTermination, "as nginx"},
	{Ingress, says404, NoRoute, "the controller names the catch-all back end upstream-default-backend"},
	{Ingress, says503, NoHealthyUpstream, "the controller's balancer answers 503 for a service without endpoints"},
	{Ingress, saysGroup, NoHealthyUpstream, "$upstream_addr holds the group's name, and 0.0.0.1 the placeholder, if no server can be selected"},
	{Ingress, says502, NoAnswer, "$upstream_status repeats nginx's own 502; $upstream_response_length is 0"},
	{Ingress, says504, UpstreamRequestTimeout, "as above for proxy_connect_timeout and proxy_read_timeout alike"},
	{Ingress, says401, Unauthorised, "auth_request or basic auth refused before a back end was chosen"},

	{Traefik, says499, DownstreamTermination, "Traefik's status for a cancelled request context"},
	{Traefik, says404, NoRoute, "no router's name: none matched"},
	{Traefik, says503, NoHealthyUpstream, "the balancer's own body, \"no available server\": 20 bytes"},
	{Traefik, saysBreaker, UpstreamOverflow, "the circuit breaker's own body: 19 bytes"},
	{Traefik, says502, NoAnswer, "Traefik's own body, \"Bad Gateway\": 11 bytes; dial errors and EOF alike"},
	{Traefik, says504, UpstreamRequestTimeout, "Traefik's own body, \"Gateway Timeout\": 15 bytes; dial and header timeouts alike"},
	{Traefik, says401, Unauthorised, "an auth middleware refused before a server was chosen"},
	{Traefik, says429, RateLimited, "the rate limiter refused before a server was chosen"},

	{HAProxy, saysNoServers, NoHealthyUpstream, "the last server of a backend went down"},
	{HAProxy, "SC <NOSRV>", NoHealthyUpstream, "no server was there to connect to"},
	{HAProxy, "SC", UpstreamConnectFailure, "the server, or the network, refused the connection"},
	{HAProxy, "sC", UpstreamConnectFailure, "timeout connect; Envoy too calls a connect timeout UF"},
	{HAProxy, "SH", UpstreamTermination, "the server aborted before its headers were whole"},
	{HAProxy, "sH", UpstreamRequestTimeout, "timeout server before the headers"},
	{HAProxy, "SD", UpstreamTermination, "the connection to the server died while data flowed"},
	{HAProxy, "sD", UpstreamRequestTimeout, "timeout server while data flowed"},
	{HAProxy, "SL", UpstreamTermination, "as SD, while the last data was still being sent"},
	{HAProxy, "sL", UpstreamRequestTimeout, "as sD, while the last data was still being sent"},
	{HAProxy, "sQ", UpstreamOverflow, "timeout queue: every server was at maxconn"},
	{HAProxy, "PC", UpstreamOverflow, "the proxy's own socket limit kept it from connecting"},
	{HAProxy, "PH", UpstreamProtocolError, "the answer's headers were invalid"},
	{HAProxy, "PD", UpstreamProtocolError, "the answer's chunks were invalid"},
	{HAProxy, "RC", Overload, "out of sockets, source ports or memory when connecting"},
	{HAProxy, "CC", DownstreamTermination, "the client left before the server was connected"},
	{HAProxy, "CD", DownstreamTermination, "the client left while data flowed"},
	{HAProxy, "CH", DownstreamTermination, "the client left while the server was thinking"},
	{HAProxy, "CL", DownstreamTermination, "the client left before it had the last data"},
	{HAProxy, "CQ", DownstreamTermination, "the client left while it was queued"},
	{HAProxy, "CR", DownstreamTermination, "the client left before its request was whole"},
	{HAProxy, "CT", DownstreamTermination, "the client left the tarpit"},
	{HAProxy, "cC", StreamIdleTimeout, "timeout client before the server was connected"},
	{HAProxy, "cD", StreamIdleTimeout, "timeout client while data flowed"},
	{HAProxy, "cH", StreamIdleTimeout, "timeout client while its body was awaited"},
	{HAProxy, "cL", StreamIdleTimeout, "timeout client before it had the last data"},
	{HAProxy, "cR", StreamIdleTimeout, "timeout http-request: the request never became whole (408)"},
	{HAProxy, "DC", LocalReset, "the server was marked down: on-marked-down shutdown-sessions"},
	{HAProxy, "DH", LocalReset, "as DC"},
	{HAProxy, "DD", LocalReset, "as DC"},
	{HAProxy, "UD", LocalReset, "an active server came back: on-marked-up shutdown-backup-sessions"},
	{HAProxy, "KD", LocalReset, "killed by an administrator"},
	{HAProxy, "PR 400", DownstreamProtocolError, "the request was invalid"},
	{HAProxy, "PR 401", Unauthorised, "http-request auth, before a server was chosen"},
	{HAProxy, "PR 429", RateLimited, "http-request deny with the status of a limit"},
}

// flags is the translation of one word of a proxy, "" where the table has none.
func flags(proxy, says string) string {
	for i := range mappings {
		if m := &mappings[i]; m.proxy == proxy && m.says == says {
			return m.flags
		}
	}
	return ""
}

// longFlags are the names of %RESPONSE_FLAGS_LONG%.
var longFlags = [...][2]string{
	{"FailedLocalHealthCheck", "LH"}, {"NoHealthyUpstream", "UH"}, {"UpstreamRequestTimeout", "UT"},
	{"LocalReset", "LR"}, {"UpstreamRemoteReset", "UR"}, {"UpstreamConnectionFailure", "UF"},
	{"UpstreamConnectionTermination", "UC"}, {"UpstreamOverflow", "UO"}, {"NoRouteFound", "NR"},
	{"DelayInjected", "DI"}, {"FaultInjected", "FI"}, {"RateLimited", "RL"},
	{"UnauthorizedExternalService", "UAEX"}, {"RateLimitServiceError", "RLSE"},
	{"DownstreamConnectionTermination", "DC"}, {"UpstreamRetryLimitExceeded", "URX"},
	{"StreamIdleTimeout", "SI"}, {"InvalidEnvoyRequestHeaders", "IH"}, {"DownstreamProtocolError", "DPE"},
	{"UpstreamMaxStreamDurationReached", "UMSDR"}, {"ResponseFromCacheFilter", "RFCF"},
	{"NoFilterConfigFound", "NFCF"}, {"DurationTimeout", "DT"}, {"UpstreamProtocolError", "UPE"},
	{"NoClusterFound", "NC"}, {"OverloadManagerTerminated", "OM"}, {"DnsResolutionFailed", "DF"},
	{"DropOverload", "DO"}, {"DownstreamRemoteReset", "DR"}, {"UnconditionalDropOverload", "UDO"},
}
