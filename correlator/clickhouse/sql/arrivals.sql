-- What the store took since a moment, in that order, a page at a time.
SELECT {{template "record_columns"}}
FROM events
WHERE ingested_time >= {since:DateTime64(9, 'UTC')}
  AND (ingested_time > {since:DateTime64(9, 'UTC')} OR key > {key:String})
ORDER BY ingested_time, key
LIMIT {most:UInt32}
