-- Who said it. What one replica says becomes visible in the order of ingested_time; what several say need not: a reader that goes on
-- where it ended does so replica by replica.
ALTER TABLE verdicts ADD COLUMN IF NOT EXISTS replica LowCardinality(String)
