// Package soak wears a provisioner out and then looks whether it is still right: thousands of allocations
// at once through the whole lifecycle, and real processes that are killed at random while nodes and a
// provider go on working. What it looks at is the database and what was told, each against the other: every
// move is one of the table, every event has arrived, nothing was launched twice, every message was sent.
package soak
