ALTER TABLE replicas_local ON CLUSTER main ADD COLUMN IF NOT EXISTS judged DateTime64(9, 'UTC');

ALTER TABLE replicas ON CLUSTER main ADD COLUMN IF NOT EXISTS judged DateTime64(9, 'UTC');
