-- Lists by state, newest first.
CREATE INDEX allocations_by_state ON allocations (state, created_at)
