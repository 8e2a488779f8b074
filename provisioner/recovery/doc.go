// Package recovery moves what is stuck, by an operator's hand. What may be done is one table, Actions: to
// what, by whom, under which guards, and which moves it makes; the moves themselves are those of package
// lifecycle, whose guards are asked as well. The API's listing, the command line's help and the
// documentation are made from that table.
//
// An action is one transaction with its audit row and the verdict that justified it; a dry run is the same
// transaction, taken back. What a guard refuses is in the audit log too, with the guard's name.
package recovery
