-- What was rolled out before and while something happened: what a rollout broke may be asked for late.
SELECT toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_instance_id, node_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE allocation_id = ''
  AND name = 'deploy.change'
  AND time >= {from:DateTime64(9, 'UTC')} AND time <= {to:DateTime64(9, 'UTC')}
  AND minute >= intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000)
  AND minute <= intDiv(toUnixTimestamp64Nano({to:DateTime64(9, 'UTC')}), 60000000000)
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
