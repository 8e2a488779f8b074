-- The last word of every service on a machine before a time: who was alive.
SELECT toString(signal), time, end_time, observed_time, ingested_time, service, scope, name, severity, severity_text, body,
       trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events, resource, attrs, stamped
FROM events
WHERE node_id = {node:String}
  AND time < {from:DateTime64(9, 'UTC')} AND time >= {from:DateTime64(9, 'UTC')} - INTERVAL 1 DAY
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time DESC, key
LIMIT 1 BY service
