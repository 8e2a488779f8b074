// Package supervise runs the parts of a product as processes on one host: started in order, each
// when the one before is ready; restarted when they die; stopped in the reverse order, so that whoever
// sends stops before whoever receives.
package supervise
