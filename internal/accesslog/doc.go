// Package accesslog understands what proxies write in their default text formats: the access lines of
// Envoy (and Istio's), nginx, ingress-nginx, APISIX, HAProxy, Traefik, AWS load balancers and Apache httpd, and the error lines by
// which nginx, HAProxy and httpd say why a request could not be served.
//
// A proxy stands between two layers that each see only half of a failure, so its line is often the
// only record of who answered. Every proxy words the same event in its own way; Line and ErrorLine
// word it in one: Envoy's response flags, mapped by the rows of mappings and by Cause.Flags.
//
// Parse and ParseError are asked of every log line that passes, so a line that is none of theirs
// costs a look at a few bytes and no allocation. Both are total: they never panic, and a line longer
// than MaxBytes is refused unread. The strings of an answer share the memory of the line they came from.
package accesslog
