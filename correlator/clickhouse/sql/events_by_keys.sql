-- Records that carry one of these keys and were written before anyone knew whose they are.
SELECT toString(signal), time, end_time, observed_delay, ingested_time, service, scope, name, severity, severity_text, body,
       trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events,
       resource_json, attrs_rest, attrs_lifted, stamped_rest, stamped_lifted,
       allocation_id, workflow_id, correlation_id, node_id, node_instance_id, request_id, task_id, claim_id, boot_id, outbox_id, resource_uid, provider_job, via
FROM events
WHERE hasAny(keys, {keys:Array(String)})
  AND allocation_id IN {places:Array(String)} AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64} -- lies
  AND allocation_id != {allocation:String}
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
SETTINGS optimize_use_projections = 0, use_skip_indexes_on_data_read = 0
