// Package lokiexporter sends log records to Loki: streams with few labels, everything else as structured metadata.
//
// A record is acknowledged to the queue when Loki has taken it. Whatever is sent again is the same to the last byte, in the
// same order, so that Loki recognises what it has already.
package lokiexporter
