-- What was said since a moment, asked twice a second by whoever shows it ("ingested_time >= ?"): parts without anything newer are not read.
ALTER TABLE verdicts ADD INDEX IF NOT EXISTS by_ingested ingested_time TYPE minmax GRANULARITY 1
