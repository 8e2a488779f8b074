-- What belongs to nobody and may be cited: complaints, rollouts, hands of operators.
SELECT toString(signal), time, end_time, observed_time, ingested_time, service, scope, name, severity, severity_text, body,
       trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events, resource, attrs, stamped
FROM events
WHERE allocation_id = ''
  AND (severity >= 13 OR name IN ('deploy.change', 'audit.action'))
  AND time >= {from:DateTime64(9, 'UTC')} AND time <= {to:DateTime64(9, 'UTC')}
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
