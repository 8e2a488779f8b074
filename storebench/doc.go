// Package storebench measures the store: seeded telemetry of the shape that a platform of nodes
// gives off, other people's tables for the same records, and the questions that
// are put to all of them, answered in the engine's own counters.
package storebench
