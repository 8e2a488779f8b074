ALTER TABLE verdicts_local ON CLUSTER main ADD INDEX IF NOT EXISTS by_ingested ingested_time TYPE minmax GRANULARITY 1;
