-- Placement: a free node of a pool.
CREATE INDEX nodes_by_pool ON nodes (pool, occupancy)
