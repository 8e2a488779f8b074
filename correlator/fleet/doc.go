// Package fleet counts all allocations for Prometheus: by state and owner, what is stuck, drifts or is orphaned, which incidents are open,
// how changes go, and how well each source and layer is heard. Nothing is counted per allocation: series are bounded by the profile.
//
// Every correlator knows the whole fleet, so each of several says the same: rules take the maximum over them, never the sum.
package fleet
