// Package store keeps the provisioner's state: allocations, nodes and their instances, workflows,
// tasks, the outbox and the audit log. The database is an SQLite file, for one process, or a PostgreSQL
// database, which several replicas share. Statements are written once, in SQLite's SQL with ? for
// arguments and no question mark in a literal; dialect.go says what becomes of them.
//
// Where several transactions write at a time, one that changes anything of an allocation locks the
// allocation first (Tx.Lock; Allocation, Node and Task do so), reads what it decides by, and writes. One
// that loses against another all the same is run again.
//
// Work happens in named transactions (Update, View). Every change of a state goes through a Move method,
// which asks package lifecycle, writes the row, and writes the lifecycle event into the journal in the same
// transaction: what was rolled back is never emitted. Each transaction is a span of service
// `db`, below whatever span the caller is in; failures and slow ones are its log lines.
package store
