-- The records of some marks: few, that became visible late.
SELECT toString(signal), time, end_time, observed_time, ingested_time, service, scope, name, severity, severity_text, body,
       trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events, resource, attrs, stamped
FROM events
WHERE ingested_time >= {from:DateTime64(9, 'UTC')} AND ingested_time <= {to:DateTime64(9, 'UTC')}
  AND key IN {keys:Array(String)}
