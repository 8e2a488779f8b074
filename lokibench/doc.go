// Package lokibench measures the way to Loki: what a log record costs this exporter and core's otlp_http, which sends to Loki's OTLP
// endpoint, and what Loki reads for a question about one allocation, with the times that our own index knows and without.
package lokibench
