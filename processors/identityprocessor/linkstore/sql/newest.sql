-- The stamp of the link behind the newest so many of a stretch of the store's time; no row where there
-- are not so many. Read backwards, so that it costs no more than those.
SELECT toUnixTimestamp64Micro(stored_time)
FROM links_by_time
WHERE stored_time >= {from:DateTime64(6, 'UTC')} AND stored_time < {to:DateTime64(6, 'UTC')}
ORDER BY stored_time DESC
LIMIT 1 OFFSET {rows:UInt64}
