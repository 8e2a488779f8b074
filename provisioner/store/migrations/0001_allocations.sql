-- One tenant request for capacity. Times are Unix nanoseconds throughout.
CREATE TABLE allocations (
    allocation_id  TEXT PRIMARY KEY,
    pool           TEXT NOT NULL,
    image          TEXT NOT NULL,
    requested_by   TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    state          TEXT NOT NULL,
    reason         TEXT NOT NULL DEFAULT '',
    version        INTEGER NOT NULL DEFAULT 1, -- rises with every move; guards against lost updates
    node_id        TEXT NOT NULL DEFAULT '',
    was_active     INTEGER NOT NULL DEFAULT 0,
    claimed        INTEGER NOT NULL DEFAULT 0,
    since          INTEGER NOT NULL,
    created_at     INTEGER NOT NULL
) STRICT
