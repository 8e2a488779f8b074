package semconv

// OpenTelemetry attributes that are read where they are present.
const (
	ServiceName       = "service.name"
	HostName          = "host.name"
	ErrorType         = "error.type"
	ExceptionType     = "exception.type"
	ExceptionMessage  = "exception.message"
	HTTPRequestMethod = "http.request.method"
	HTTPStatusCode    = "http.response.status_code"
	HTTPStatusLegacy  = "http.status_code"
	HTTPRoute         = "http.route"
	RPCGRPCStatus     = "rpc.grpc.status_code"
	ServerAddress     = "server.address"
	ServerPort        = "server.port"
	URLPath           = "url.path"
	UpstreamAddress   = "upstream.address"
	ProxyFlags        = "proxy.flags"
	TLSError          = "tls.error"
	TLSPeerSubject    = "tls.client.subject"
	DBSystem          = "db.system.name"
)
