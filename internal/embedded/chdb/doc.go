// Package chdb binds libchdb, the ClickHouse engine as a shared library, without cgo.
//
// A [Library] is loaded once per process and opens connections; each [Conn] is one session that runs one statement
// at a time. The engine keeps one data directory per process: the first connection names it, the others join it.
// Nothing here is safe for concurrent use of the same Conn; several Conns run in parallel.
//
// The library is C++ in our address space: what it does wrong can't be recovered. Keep it in a process of its own.
package chdb
