// Package engine gets libchdb, the ClickHouse engine as a library, onto this machine: one pinned build, known by its
// checksum, kept in the user's cache folder.
package engine

// The pinned build. Another version needs another run of every test of this tree: what the store relies on is measured,
// not promised.
const (
	// Package is what npm fetches.
	Package = "@chdb/lib-linux-x64-gnu@26.7.3-stable.1"
	// Checksum is libchdb.so's SHA-256.
	Checksum = "36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5"
	// librarySize is libchdb.so's size in bytes, packageSize that of the package it comes in.
	librarySize = 566330096
	packageSize = 177817999
)

// wayOut is what to do where the engine can't be had.
const wayOut = "or run a ClickHouse server (24.8 or later) and set FAULTLINE_CLICKHOUSE_DSN to it"
