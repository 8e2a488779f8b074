-- Single records, by where they lie. The lists are those of each column; who reads takes the rows that were meant.
SELECT toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_instance_id, node_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE minute IN {minutes:Array(Int32)}
  AND allocation_id IN {allocations:Array(String)} AND node_id IN {nodes:Array(String)} AND service IN {services:Array(String)}
  AND toUnixTimestamp64Nano(time) IN {times:Array(Int64)}
  AND key IN {keys:Array(String)}
SETTINGS optimize_use_projections = 0, use_skip_indexes_on_data_read = 0
