-- The workflows of one allocation, oldest first.
CREATE INDEX workflows_by_allocation ON workflows (allocation_id, created_at)
