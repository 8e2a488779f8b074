-- What was said since a moment, without the words: what became visible late is found by it.
SELECT allocation_id, toUnixTimestamp64Nano(as_of), toUnixTimestamp64Nano(ingested_time)
FROM verdicts
WHERE ingested_time >= {since:DateTime64(9, 'UTC')}
