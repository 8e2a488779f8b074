-- The records of some marks: few, that became visible late.
SELECT {{template "record_columns"}}
FROM events
WHERE ingested_time >= {from:DateTime64(9, 'UTC')} AND ingested_time <= {to:DateTime64(9, 'UTC')}
  AND key IN {keys:Array(String)}
