-- What the store took since a moment, in that order, a page at a time.
SELECT toString(signal), time, end_time, observed_time, ingested_time, service, scope, name, severity, severity_text, body,
       trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events, resource, attrs, stamped
FROM events
WHERE ingested_time >= {since:DateTime64(9, 'UTC')}
  AND (ingested_time > {since:DateTime64(9, 'UTC')} OR key > {key:String})
ORDER BY ingested_time, key
LIMIT {most:UInt32}
