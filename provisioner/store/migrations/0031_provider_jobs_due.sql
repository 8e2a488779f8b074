-- What the driver looks at: few rows, however many are over.
CREATE INDEX provider_jobs_due ON provider_jobs (due_at) WHERE phase <> 'ended'
