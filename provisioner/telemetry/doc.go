// Package telemetry speaks OTLP for several services at once: spans, log records and lifecycle events,
// each with the resource of its service and the identifiers of the work at hand.
//
// An Emitter makes the records of one service. The Exporter behind it takes them without blocking, batches them,
// posts them to a Collector and appends them to a file in the very form that the Collector's file exporter
// writes. A record that finds the queue full is dropped and counted: a transition never waits for its
// telemetry. What must not be lost is kept by the caller as an EncodedBatch until Deliver has sent it.
//
// Identifiers travel in the context (With), over HTTP as W3C trace context and baggage (Inject,
// Extract), and through database rows as a Carrier.
package telemetry
