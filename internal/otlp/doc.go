// Package otlp turns OpenTelemetry's pdata into records: the one place where attribute values become
// text, times become comparable and what cannot be true is set right by stated rules. The exporter and
// the file reader share it, so that a record is the same in the store and in a file.
package otlp
