// Package identity answers one question: whose was this record, then?
//
// An Index collects links (stated ones, openings and closings of assignments, identifiers seen together)
// in any order and resolves a record's own keys at the record's own time. Links only ever add up, so
// the same set of them gives the same answers in every order of arrival; nothing is ever guessed from
// time alone. The Collector's processor asks it while records pass, the correlator asks it again when
// it reads, with whatever has become known since.
package identity
