UPDATE nodes SET used_at = coalesce((SELECT max(created_at) FROM tasks WHERE tasks.node_id = nodes.node_id), 0)
