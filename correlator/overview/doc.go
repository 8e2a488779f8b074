// Package overview keeps in memory where every allocation stands and what was said of it last, so that the questions
// that are asked most (list, stuck, incidents, a verdict) take no statement, and a page is told of a change when it is made.
//
//	store ──▶ heads, labels, what was said ──▶ Overview ──▶ api (lists, streams)
//
// It follows what all replicas say, through the store; a process that does not judge has one as well.
package overview
