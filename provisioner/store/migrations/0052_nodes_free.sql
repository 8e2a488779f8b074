-- Placement: the free node of a pool that was set aside longest ago.
CREATE INDEX nodes_free ON nodes (pool, used_at, node_id) WHERE occupancy = 'free' AND instance_id <> ''
