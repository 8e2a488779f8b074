-- The next records of a reading, in its order. /* whose */ is one of the conditions whose_*.sql: each is
-- asked by itself, because two of them joined by OR use no index.
-- `only` asks for the other copies of some records: rows of these keys outside the stretch that was read,
-- from `low` to `high`.
SELECT toString(key), toString(signal), time, end_time, observed_time, ingested_time, service, scope, name, severity, severity_text, body,
       trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events, resource, attrs, stamped
FROM events
WHERE /* whose */
  AND ingested_time <= fromUnixTimestamp64Nano({mark:Int64}, 'UTC')
  AND time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
  AND (time, service, key) > (fromUnixTimestamp64Nano({after:Int64}, 'UTC'), {after_source:String}, {after_key:String})
  AND (empty({only:Array(String)}) OR key IN {only:Array(String)}
       AND NOT ((time, service, key) >= (fromUnixTimestamp64Nano({low:Int64}, 'UTC'), {low_source:String}, {low_key:String})
                AND (time, service, key) <= (fromUnixTimestamp64Nano({high:Int64}, 'UTC'), {high_source:String}, {high_key:String})))
ORDER BY time, service, key
LIMIT {most:UInt32}
