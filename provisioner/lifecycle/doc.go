// Package lifecycle is the domain of the provisioner: which moves allocations, nodes, node instances, workflows,
// tasks, outbox messages and providers' jobs may make, and what must be known before they do. Each state machine is
// one table that fits on a screen. A move that is not in its table, or whose guard finds its proof missing, is
// refused with a named reason; the store, through which all moves go, reports it.
//
// The model speaks of two more conditions of a release. Billing has stopped: the controller bills nobody; the
// message allocation.release_failed, or allocation.released, which is written in the transaction of the move, is
// what a billing service closes its window by, so that no such state is without one. Credentials are revoked:
// the controller gives tenants none; those of a node's instance are its certificate, which counts for as
// long as that node instance is the live one.
//
// The package knows no database, no network and no clock but the times it is given.
package lifecycle
