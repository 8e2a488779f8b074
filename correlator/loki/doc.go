// Package loki reads raw lines back from a Loki, over its HTTP API (query_range). The labels and the structured metadata that it asks for are
// those that collector/lokiexporter sends.
package loki
