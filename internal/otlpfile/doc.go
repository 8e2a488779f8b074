// Package otlpfile reads OTLP/JSON as the Collector's file exporter writes it: one request object a
// line, plain or gzip, any number of files. What cannot be read is reported with file, line and reason,
// and the rest is read all the same.
package otlpfile
