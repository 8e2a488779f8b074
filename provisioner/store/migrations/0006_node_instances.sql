CREATE TABLE node_instances (
    instance_id TEXT PRIMARY KEY,
    node_id     TEXT NOT NULL REFERENCES nodes,
    state       TEXT NOT NULL,
    boot_id     TEXT NOT NULL,
    host_name   TEXT NOT NULL,
    enrolled_at INTEGER NOT NULL,
    closed_at   INTEGER NOT NULL DEFAULT 0
) STRICT
