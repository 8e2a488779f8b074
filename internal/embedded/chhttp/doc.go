// Package chhttp speaks ClickHouse's HTTP interface in front of libchdb, well enough for clickhouse-go/v2: batches,
// streamed results, parameters, settings, compression, typed exceptions, cancellation.
//
// A statement takes one session of a bounded pool for as long as it runs. Three rules keep the pool alive: a client that
// goes away ends its statement, a client that stops reading or sending loses it after [Options].Stall, and a request
// that finds no session free waits a bounded time. An INSERT commits when its whole body has arrived, never before.
//
// Left out: HTTP sessions, external tables, users beyond the one. Each is refused by name.
package chhttp
