-- What belongs to nobody and may be cited: complaints, hands of operators, and lines of any severity that hold a telling word. All words are one
-- regular expression: of 14,000 rows 0.05 s; multiSearchAny makes its tables anew for every block (1.0 s), and multiMatchAny compiles for seconds.
SELECT toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_instance_id, node_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE allocation_id = ''
  AND (severity >= 13 OR name IN ('audit.action', 'outbox.record')
       OR name = '' AND {words:String} != '' AND match(body, {words:String}))
  AND time >= {from:DateTime64(9, 'UTC')} AND time <= {to:DateTime64(9, 'UTC')}
  AND minute >= intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000)
  AND minute <= intDiv(toUnixTimestamp64Nano({to:DateTime64(9, 'UTC')}), 60000000000)
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
