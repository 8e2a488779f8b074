// Package sharedcomponent gives all signals that a Collector configures under one name one and the same
// component. The Collector asks a factory once for each signal; what a component learns, and the
// connections that it holds, belong to all of them.
package sharedcomponent
