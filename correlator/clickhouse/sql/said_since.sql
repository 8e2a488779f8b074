-- What was said since a moment, in the order in which each replica said it.
SELECT answer, replica, toUnixTimestamp64Nano(ingested_time)
FROM verdicts
WHERE ingested_time >= {since:DateTime64(9, 'UTC')}
ORDER BY ingested_time, replica, allocation_id, as_of
LIMIT {most:UInt32}
