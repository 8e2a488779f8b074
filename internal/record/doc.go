// Package record is one telemetry record, a log record or a span, in the form in which every part of
// Faultline passes it on: the exporter writes it into columns, the reader and the file reader give it
// back, the correlator judges it. The same record has the same key and ref wherever it comes from.
package record
