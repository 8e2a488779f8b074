// Package lifecycle is the domain of the provisioner: which moves allocations, nodes, tasks and workflows
// may make, and what must be known before they do. Each machine is one table that fits on a screen. A
// move that is not in its table, or whose guard finds its proof missing, is refused with a named reason.
//
// The package knows no database, no network and no clock but the times it is given.
package lifecycle
