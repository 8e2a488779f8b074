-- Lists of all states, newest first, page by page.
CREATE INDEX allocations_by_time ON allocations (created_at, allocation_id)
