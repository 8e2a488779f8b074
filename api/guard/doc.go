// Package guard stands before the correlator's API: it says who may ask, how often, and keeps a record of what was
// read. It knows no question of the API but by its path.
//
//	request ─▶ log ─▶ host ─▶ at once, body ─▶ who is it ─▶ rate ─▶ package api
//	           └─ whatever a step refuses is answered as a problem and logged ─┘
package guard
