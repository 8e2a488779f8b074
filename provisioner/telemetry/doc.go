// Package telemetry speaks OTLP for several services at once: spans, log records and lifecycle events,
// each with the resource of the part that says it and the identifiers of the work at hand.
//
// A Source is one service.name with its resource. The Emitter behind it takes records without blocking,
// batches them, posts them to a Collector and appends them to a file in the very form that the
// Collector's file exporter writes. A record that finds the queue full is dropped and counted: a
// transition never waits for its telemetry.
//
// Identifiers travel in the context (With), over HTTP as W3C trace context and baggage (Inject,
// Extract), and through database rows as a Carrier.
package telemetry
