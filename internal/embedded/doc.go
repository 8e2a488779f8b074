// Package embedded is the store for one host: the ClickHouse engine (libchdb) behind ClickHouse's HTTP interface on a
// loopback address, in a process of its own. What it serves is what a ClickHouse server serves to clickhouse-go/v2, so
// nothing else in the product knows the difference.
//
//	Run ─▶ lock the data folder ─▶ load libchdb ─▶ check its limits ─▶ chhttp on 127.0.0.1 ─▶ clickhouse-go
//
// A process starts one store, once: the engine keeps one data folder per process and can't be started again after it was
// shut down. See package chhttp for what is served, package engine for where the library comes from.
package embedded
