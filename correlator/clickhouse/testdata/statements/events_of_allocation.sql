-- The allocation's own ranges, one in every two hours that it was heard of. Where those are not known beforehand, what was noted of it tells them
-- (as in allocation_known.sql); of what was noted nowhere all is looked through.
WITH (SELECT (intDiv(toUnixTimestamp64Nano(min(first_seen)), 60000000000) - 1440, intDiv(toUnixTimestamp64Nano(max(last_seen)), 60000000000) + 1440, count())
      FROM allocations WHERE allocation_id = {allocation:String}) AS known
SELECT toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_instance_id, node_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE allocation_id = {allocation:String}
  AND (known.3 = 0 OR minute >= known.1 AND minute <= known.2)
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
SETTINGS optimize_use_projections = 0, use_skip_indexes_on_data_read = 0
