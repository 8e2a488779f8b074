// Package rules is everything that Faultline knows about how provisioning goes wrong: one file a family,
// one ordered list. Words that name a cause are data (signatures.yaml); sequences, statuses and absences
// are code.
package rules
