-- Records that carry one of these keys and were written before anyone knew whose they are.
SELECT toString(signal), time, end_time, observed_time, ingested_time, service, scope, name, severity, severity_text, body,
       trace_id, span_id, parent_span_id, span_kind, status, status_message, span_events, resource, attrs, stamped
FROM events
WHERE hasAny(keys, {keys:Array(String)})
  AND allocation_id != {allocation:String}
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
