// Package engine gets libchdb, the ClickHouse engine as a library, onto this host: one pinned build, known by its
// checksum, kept in the user's cache folder.
package engine

// build is one build of the library, and the package that it comes in.
type build struct {
	pkg      string // what npm fetches
	checksum string // libchdb.so's SHA-256
	size     int64  // libchdb.so's bytes
	packed   int64  // the package's bytes
}

// pinned is the build that this tree was tested with. Another needs another run of every test: what the store relies on is
// measured, not promised.
func pinned() build {
	return build{
		pkg:      "@chdb/lib-linux-x64-gnu@26.7.3-stable.1",
		checksum: "36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5",
		size:     566330096,
		packed:   177817999,
	}
}

// wayOut is what to do where the engine can't be had.
const wayOut = "or run a ClickHouse server and set FAULTLINE_CLICKHOUSE_DSN to it"
