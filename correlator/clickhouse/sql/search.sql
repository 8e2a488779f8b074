-- What a search looks for, the newest first. What it does not ask for is an empty parameter, and is gone
-- from the condition before indexes are chosen. minute is what the primary key goes by. /* whose */ is one of the conditions words_*.sql.
-- An attribute is a condition of its own, with a constant name: the store looks into each resource once then, not into each row's.
SELECT toString(key), toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_id, node_instance_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE ingested_time <= fromUnixTimestamp64Nano({mark:Int64}, 'UTC')
  AND time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
  AND minute >= intDiv({from:Int64}, 60000000000) AND minute <= intDiv({last:Int64}, 60000000000)
  AND severity >= {severity:Int32}
  AND (empty({services:Array(String)}) OR service IN {services:Array(String)})
  AND ({allocation_id:String} = '' OR allocation_id = {allocation_id:String})
  AND ({workflow_id:String} = '' OR workflow_id = {workflow_id:String})
  AND ({correlation_id:String} = '' OR correlation_id = {correlation_id:String})
  AND ({node_id:String} = '' OR node_id = {node_id:String})
  AND ({node_instance_id:String} = '' OR node_instance_id = {node_instance_id:String})
  AND ({request_id:String} = '' OR request_id = {request_id:String})
  AND ({task_id:String} = '' OR task_id = {task_id:String})
  AND ({claim_id:String} = '' OR claim_id = {claim_id:String})
  AND ({boot_id:String} = '' OR boot_id = {boot_id:String})
  AND ({outbox_id:String} = '' OR outbox_id = {outbox_id:String})
  AND ({resource_uid:String} = '' OR resource_uid = {resource_uid:String})
  AND ({provider_job:String} = '' OR provider_job = {provider_job:String})
  AND ({trace_id:String} = '' OR trace_id = {trace_id:String})
  AND (attrs_rest[{name:String}] = {value:String} OR JSONExtractString(resource_json, {name:String}) = {value:String}) -- every attribute
  AND /* whose */
  AND (time, service, key) < (fromUnixTimestamp64Nano({after:Int64}, 'UTC'), {after_source:String}, {after_key:String})
ORDER BY time DESC, service DESC, key DESC
LIMIT {most:UInt32}
