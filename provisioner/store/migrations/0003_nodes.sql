CREATE TABLE nodes (
    node_id       TEXT PRIMARY KEY,
    pool          TEXT NOT NULL,
    occupancy     TEXT NOT NULL,
    allocation_id TEXT NOT NULL DEFAULT '',
    instance_id   TEXT NOT NULL DEFAULT '', -- the live node instance
    used_at       INTEGER NOT NULL DEFAULT 0, -- when the node was last set aside: placement goes round
    seen_at       INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL
) STRICT
