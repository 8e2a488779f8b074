-- What a search looks for, the newest first; what it does not ask for is no condition. minute is what the primary key goes by.
-- An attribute's name is a parameter of its own, a constant: the store looks into each resource once then, not into each row's.
SELECT toString(key), toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_instance_id, node_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE ingested_time <= fromUnixTimestamp64Nano({mark:Int64}, 'UTC')
  AND time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
  AND minute >= intDiv({from:Int64}, 60000000000) AND minute <= intDiv({last:Int64}, 60000000000)
  AND severity >= {severity:Int32}
  AND (empty({services:Array(String)}) OR service IN {services:Array(String)})
  AND true
  AND (time, service, key) < (fromUnixTimestamp64Nano({after:Int64}, 'UTC'), {after_source:String}, {after_key:String})
ORDER BY time DESC, service DESC, key DESC
LIMIT {most:UInt32}
