CREATE TABLE workflows (
    workflow_id    TEXT PRIMARY KEY,
    allocation_id  TEXT NOT NULL REFERENCES allocations,
    operation      TEXT NOT NULL,
    state          TEXT NOT NULL,
    step           INTEGER NOT NULL DEFAULT 0,
    waiting_on     TEXT NOT NULL DEFAULT '',
    failure        TEXT NOT NULL DEFAULT '',
    correlation_id TEXT NOT NULL,
    trace          TEXT NOT NULL, -- traceparent of the workflow's own root span
    link           TEXT NOT NULL, -- traceparent of what asked for it
    outbox_id      TEXT NOT NULL, -- the message that started it
    baggage        TEXT NOT NULL DEFAULT '', -- members of the caller's that are not ours: providers get them
    wake_at        INTEGER NOT NULL DEFAULT 0,
    moved_at       INTEGER NOT NULL DEFAULT 0, -- since when the workflow is where it is
    created_at     INTEGER NOT NULL
) STRICT
