// Package embeddedtest gives tests a ClickHouse store: DSN for those that need a database, Start for those that end one.
//
// The store is a process of its own, the test binary run once more: the engine is C++, and a fault of it must not look like
// a fault of the test. It lives as long as the test binary, whose end closes its standard input.
package embeddedtest
