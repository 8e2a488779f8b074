// Package clickhouseexporter writes log records and spans, and what they say of who belonged to whom,
// into the store: one wide row per record in `events`, one row per link in `links`.
//
// A record is acknowledged to the queue when the store has it. Batches carry a token that is derived
// from their content, so that a batch whose reply was lost is not stored twice; whoever reads counts a
// record once by its key in any case.
package clickhouseexporter
