-- The records of some marks: few, that became visible late.
SELECT toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_instance_id, node_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE ingested_time >= {from:DateTime64(9, 'UTC')} AND ingested_time <= {to:DateTime64(9, 'UTC')}
  AND key IN {keys:Array(String)}
