-- Placement goes round: when was a node last given work?
CREATE INDEX tasks_by_node ON tasks (node_id, created_at)
