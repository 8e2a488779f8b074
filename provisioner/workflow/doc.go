// Package workflow runs the operations of allocations: provision, release, cancel. An operation is a
// list of steps; a step is one transaction that looks at the rows and says what next. All state is in
// the store, so an engine that starts finds every workflow where the last one left it, and a step that
// runs twice does its work once.
package workflow
