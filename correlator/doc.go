// Package correlator is the domain: it joins the records of an allocation over all layers into one
// timeline and judges which layer owns the trouble.
//
// Records go in, an Answer comes out, by the same code for a service and for a file:
//
//	records ▶ Gather (merge duplicates, learn identities, resolve) ▶ Case, one an allocation
//	Case    ▶ Timeline                       what happened, in causal order
//	Case    ▶ troubles ▶ rules ▶ Judge       what it cost, what explains it, whose it is
//
// Nothing here reads a clock, a file or a database: "now" is a property of the input.
package correlator
