// Package incident looks across allocations: how far a cause reaches, which allocations one cause hit, what is stuck and
// which views drift. It is a function of assessments alone.
//
// A cause is judged from one allocation's records first. How far it reaches speaks last (docs/domain.md §4.10, rule 7):
// where the evidence is equal, what others suffer too is preferred; and what is found on many nodes at once, by
// their silence alone, is not each node's own.
package incident
