-- The jobs of one allocation, oldest first.
CREATE INDEX provider_jobs_by_allocation ON provider_jobs (allocation_id, created_at)
