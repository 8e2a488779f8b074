// Package score makes faults in a lab and compares what is said of the allocations that met them with the
// truth. The truth is the lab's: which allocation met a fault, and whether that cost it something, follows
// from its client's life, never from a verdict. Who judges is behind an interface: files in this process, or
// a running product.
package score
