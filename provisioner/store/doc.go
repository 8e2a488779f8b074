// Package store keeps the provisioner's state in SQLite: allocations, nodes and their installations,
// workflows, tasks, the outbox and the audit log.
//
// Work happens in named transactions (Update, View). Every change of a state goes through a Move method,
// which asks package lifecycle, writes the row, and hands the lifecycle event to the emitter once the
// transaction is committed: what was rolled back is never told. Each transaction is a span of service
// `db`, below whatever span the caller is in; failures and slow ones are its log lines.
package store
