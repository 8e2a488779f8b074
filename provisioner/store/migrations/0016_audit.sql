-- Append-only: who did what by hand.
CREATE TABLE audit (
    audit_id       TEXT PRIMARY KEY,
    actor          TEXT NOT NULL,
    actor_type     TEXT NOT NULL,
    action         TEXT NOT NULL,
    allocation_id  TEXT NOT NULL,
    node_id        TEXT NOT NULL,
    reason         TEXT NOT NULL,
    before         TEXT NOT NULL,
    after          TEXT NOT NULL,
    evidence       TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    at             INTEGER NOT NULL
) STRICT
