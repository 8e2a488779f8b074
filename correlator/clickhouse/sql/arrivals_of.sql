-- The records of some marks: few, that became visible late.
SELECT toString(signal), time, end_time, observed_delay, ingested_time, service, scope, name, severity, severity_text, body,
       trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events,
       resource_json, attrs_rest, attrs_lifted, stamped_rest, stamped_lifted,
       allocation_id, workflow_id, correlation_id, node_id, node_instance_id, request_id, task_id, claim_id, boot_id, outbox_id, resource_uid, provider_job, via
FROM events
WHERE ingested_time >= {from:DateTime64(9, 'UTC')} AND ingested_time <= {to:DateTime64(9, 'UTC')}
  AND key IN {keys:Array(String)}
