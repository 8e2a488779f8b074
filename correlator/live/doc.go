// Package live judges allocations as their records arrive, and keeps what is said of them each time that it
// changes.
//
//	feed (what the store took) ▶ WorkingSet ▶ queue (what is urgent first) ▶ Judge ▶ history (where it changed)
//
// One goroutine follows, judges and writes; another reads the whole record set of an allocation that began
// before this process did. Replicas share by hashing allocations over whoever holds a lease. Nothing here
// is the truth: a verdict that is asked for is always judged anew.
package live
