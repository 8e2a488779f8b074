-- The next records of a reading, in its order. Each of the conditions filter_*.sql is asked by itself, because two of them
-- joined by OR use no index.
-- No projection serves this: not looking for one spares a millisecond.
-- minute is what the primary key goes by.
-- `only` asks for the other copies of some records: rows of these keys outside the stretch that was read,
-- from `low` to `high`.
SELECT toString(key), toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_instance_id, node_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE -- A node's records while it was the selection's. A broken clock is placed by when it was observed.
node_id = {node:String}
  AND allocation_id IN {places:Array(String)} AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64}
  AND multiIf({kind:String} = 'allocation', allocation_id, node_instance_id) != {id:String}
  AND (time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND time < fromUnixTimestamp64Nano({until:Int64}, 'UTC')
       OR observed_time >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND observed_time < fromUnixTimestamp64Nano({until:Int64}, 'UTC'))
  AND ingested_time <= fromUnixTimestamp64Nano({mark:Int64}, 'UTC')
  AND time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
  AND minute >= intDiv({from:Int64}, 60000000000) AND minute <= intDiv({last:Int64}, 60000000000)
  AND (time, service, key) > (fromUnixTimestamp64Nano({after:Int64}, 'UTC'), {after_source:String}, {after_key:String})
  AND (empty({only:Array(String)}) OR key IN {only:Array(String)}
       AND NOT ((time, service, key) >= (fromUnixTimestamp64Nano({low:Int64}, 'UTC'), {low_source:String}, {low_key:String})
                AND (time, service, key) <= (fromUnixTimestamp64Nano({high:Int64}, 'UTC'), {high_source:String}, {high_key:String})))
ORDER BY time, service, key
LIMIT {most:UInt32}
SETTINGS optimize_use_projections = 0, use_skip_indexes_on_data_read = 0
