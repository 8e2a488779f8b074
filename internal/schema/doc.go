// Package schema opens the store and keeps its tables: numbered SQL files, one statement each, applied
// in order under a lock and recorded with their checksums, so that a changed file stops the start
// instead of meeting tables that were made by another text.
//
// Whoever starts first migrates; everybody may try at once.
package schema
