-- The last word of every service on a machine before a time: who was alive.
SELECT toString(signal), time, end_time, observed_delay, ingested_time, service, scope, name, severity, severity_text, body,
       trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events,
       resource_json, attrs_rest, attrs_lifted, stamped_rest, stamped_lifted,
       allocation_id, workflow_id, correlation_id, node_id, node_instance_id, request_id, task_id, claim_id, boot_id, outbox_id, resource_uid, provider_job, via
FROM events
WHERE node_id = {node:String}
  AND time < {from:DateTime64(9, 'UTC')} AND time >= {from:DateTime64(9, 'UTC')} - INTERVAL 1 DAY
  AND minute <= intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000)
  AND minute >= intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000) - 1441
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time DESC, key
LIMIT 1 BY service
