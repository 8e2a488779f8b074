package chhttp

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// maxQueryID is how long a query id may be, in bytes.
const maxQueryID = 256

// request is what an HTTP request asks for, its body aside.
type request struct {
	id, database, format string
	text                 string            // ?query=
	params               map[string]string // {name:Type}, without "param_"
	settings             map[string]string
	get                  bool
	compress, decompress bool   // ClickHouse's own block compression, out and in
	zstd                 bool   // zstd blocks rather than lz4
	encoding             string // Content-Encoding of the body
	gzip                 bool   // the client takes a gzip response
	hold                 bool   // wait_end_of_query
}

// parseRequest reads URL and headers. It refuses what the interface leaves out, rather than ignore it.
func parseRequest(r *http.Request, database string) (*request, error) {
	v, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refusal(badArguments, "the URL's query string: "+err.Error())
	}
	q := &request{
		id: v.Get("query_id"), database: v.Get("database"), format: v.Get("default_format"), text: v.Get("query"),
		params: map[string]string{}, settings: map[string]string{},
		get:      r.Method == http.MethodGet || r.Method == http.MethodHead,
		compress: v.Get("compress") == "1", decompress: v.Get("decompress") == "1",
		zstd:     strings.EqualFold(v.Get("network_compression_method"), "zstd"),
		encoding: strings.ToLower(r.Header.Get("Content-Encoding")),
		gzip:     strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && v.Get("enable_http_compression") != "0",
		hold:     v.Get("wait_end_of_query") == "1",
	}
	if q.database == "" {
		q.database = r.Header.Get("X-ClickHouse-Database")
	}
	if q.database == "" {
		q.database = database
	}
	if f := r.Header.Get("X-ClickHouse-Format"); f != "" {
		q.format = f
	}
	if q.format == "" {
		q.format = "TabSeparated"
	}
	if len(q.id) > maxQueryID || strings.ContainsAny(q.id, "\r\n\x00") {
		return nil, refusal(badArguments, fmt.Sprintf("query_id is longer than %d bytes or holds control characters", maxQueryID))
	}
	if v.Has("session_id") {
		return nil, refusal(notImplemented, "HTTP sessions (session_id) are not served: send settings with each request")
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		return nil, refusal(notImplemented, "external tables (multipart/form-data) are not served: use a parameter or a table")
	}
	for k := range v {
		switch name, param := strings.CutPrefix(k, "param_"); {
		case param:
			q.params[name] = v.Get(k)
		case strings.ContainsAny(k, " \t\r\n,;='\"`\\") || k == "":
			return nil, refusal(badArguments, fmt.Sprintf("%q is not the name of a setting", k))
		case !reserved(k):
			q.settings[k] = v.Get(k)
		}
	}
	return q, nil
}

// reserved are URL parameters that are not query settings. log_comment is ours: KILL finds a statement by it.
func reserved(name string) bool {
	switch name {
	case "query", "query_id", "database", "default_format", "user", "password", "quota_key", "role", "stacktrace",
		"compress", "decompress", "network_compression_method", "network_zstd_compression_level", "enable_http_compression",
		"http_zlib_compression_level", "client_protocol_version", "wait_end_of_query", "buffer_size",
		"send_progress_in_http_headers", "http_headers_progress_interval_ms", "add_http_cors_header", "close_session",
		"session_timeout", "session_check", "log_comment":
		return true
	}
	return false
}
