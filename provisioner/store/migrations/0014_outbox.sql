CREATE TABLE outbox (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT, -- order of commit
    outbox_id     TEXT NOT NULL UNIQUE,
    subject       TEXT NOT NULL,
    allocation_id TEXT NOT NULL,
    payload       TEXT NOT NULL,
    traceparent   TEXT NOT NULL,
    tracestate    TEXT NOT NULL DEFAULT '', -- what other tracers keep in the caller's trace
    baggage       TEXT NOT NULL,
    state         TEXT NOT NULL,
    attempt_count INTEGER NOT NULL DEFAULT 0,
    last_error    TEXT NOT NULL DEFAULT '',
    next_at       INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    published_at  INTEGER NOT NULL DEFAULT 0
) STRICT
