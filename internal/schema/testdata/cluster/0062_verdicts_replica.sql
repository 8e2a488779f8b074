ALTER TABLE verdicts_local ON CLUSTER main ADD COLUMN IF NOT EXISTS replica LowCardinality(String);

ALTER TABLE verdicts ON CLUSTER main ADD COLUMN IF NOT EXISTS replica LowCardinality(String);
