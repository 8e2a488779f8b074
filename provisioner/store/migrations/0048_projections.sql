-- What views were last written, and since when writing one fails.
CREATE TABLE projections (
    allocation_id TEXT NOT NULL REFERENCES allocations,
    projection    TEXT NOT NULL,
    shown         TEXT NOT NULL DEFAULT '', -- the state that the view shows
    failure       TEXT NOT NULL DEFAULT '', -- of the last write; empty: it went well
    failing_since BIGINT NOT NULL DEFAULT 0,
    written_at    BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (allocation_id, projection)
)
