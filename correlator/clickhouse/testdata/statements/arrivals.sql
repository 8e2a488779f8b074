-- What the store took since a moment, in that order, a page at a time.
SELECT toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_instance_id, node_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE ingested_time >= {since:DateTime64(9, 'UTC')}
  AND (ingested_time > {since:DateTime64(9, 'UTC')} OR key > {key:String})
ORDER BY ingested_time, key
LIMIT {most:UInt32}
