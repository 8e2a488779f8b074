-- What an agent may claim, and what the sweeper must look at.
CREATE INDEX tasks_open ON tasks (node_id, created_at) WHERE state IN ('queued', 'dispatched', 'running')
