-- The marks of what the store took in a stretch of time, without the records: what became visible late is
-- found by them.
SELECT toUnixTimestamp64Nano(ingested_time), toString(key)
FROM events
WHERE ingested_time >= {from:DateTime64(9, 'UTC')} AND ingested_time <= {to:DateTime64(9, 'UTC')}
