-- One-time tokens; only their hash is kept.
CREATE TABLE enrolments (
    token_hash TEXT PRIMARY KEY,
    node_id    TEXT NOT NULL REFERENCES nodes,
    expires_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL DEFAULT 0
) STRICT
