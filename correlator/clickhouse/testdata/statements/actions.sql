-- What operators did and what was sent, where that belongs to nobody: it may end a run, or be why nothing is wrong.
SELECT toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_instance_id, node_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE allocation_id = ''
  AND name IN ('audit.action', 'outbox.record')
  AND time >= {from:DateTime64(9, 'UTC')} AND time <= {to:DateTime64(9, 'UTC')}
  AND minute >= intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000)
  AND minute <= intDiv(toUnixTimestamp64Nano({to:DateTime64(9, 'UTC')}), 60000000000)
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
