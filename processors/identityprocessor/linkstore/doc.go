// Package linkstore lets replicas of the identity processor share what they learn: it follows the
// store's links, in the order in which the store took them, and tells the index.
//
// The guarantee: every link that the store took is told to every follower if it becomes visible no later
// than `overlap` after the store stamped it (links_by_time.stored_time). The stamp is the store's, so the
// overlap has to cover how long an insert takes, how far replicas of the store lag and how far the
// clocks of its own servers differ; the clocks of those who write do not matter. What becomes visible
// later than that is missed until the next warm start, and found by whoever reads the store: the
// correlator closes over all links.
//
// Links are told in no particular order and any number of times, which the index does not mind.
package linkstore
