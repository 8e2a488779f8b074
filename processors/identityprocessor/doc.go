// Package identityprocessor stamps log records, spans and metric resources with the identifiers that
// they lack: whose they were, at their own time. It learns from what passes through it, adds attributes
// and nothing else, and never overwrites one that is there.
//
// All pipelines that name the same processor share what it has learnt: a span may say whose a log
// record is.
package identityprocessor
