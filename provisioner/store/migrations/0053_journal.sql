-- Lifecycle events and spans, written by the transactions that they tell of, until they have arrived.
CREATE TABLE journal (
    seq     INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    records INTEGER NOT NULL,
    logs    BLOB NOT NULL, -- telemetry.EncodedBatch
    traces  BLOB NOT NULL
) STRICT
