-- What a search looks for, the newest first; what it does not ask for is no condition. minute is what the primary key goes by.
-- An attribute's name is a parameter of its own, a constant: the store looks into each resource once then, not into each row's.
SELECT toString(key), toString(signal), time, observed_delay, ingested_time, service, name, severity, body, trace_id, span_id,
       allocation_id, workflow_id, correlation_id, node_instance_id, node_id, keys_rest, form_json, resource_json, attrs_rest, extra_json
FROM events
WHERE ingested_time <= fromUnixTimestamp64Nano({mark:Int64}, 'UTC')
  AND time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND time <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
  AND minute >= intDiv({from:Int64}, 60000000000) AND minute <= intDiv({last:Int64}, 60000000000)
  AND severity >= {severity:Int32}
  AND (empty({services:Array(String)}) OR service IN {services:Array(String)})
  AND -- What a span says of itself; a log record without a body by its name and attributes. Span events are
-- JSON: their field names are words too. said holds more than is looked for, and has an index.
empty(body)
  AND hasToken(said, {word0:String})
  AND hasToken(said, {word1:String})
  AND if(signal = 'span',
         hasAllTokens(lower(concat(name, ' ', status_message, ' ', replaceRegexpAll(span_events, '\\\\(u[0-9a-fA-F]{4}|.)', ' '))), {words:Array(String)}),
         hasAllTokens(lower(concat(name, ' ', status_message, ' ', arrayStringConcat(mapValues(attrs_rest), ' '), ' ',
                                   arrayStringConcat(arrayMap(n -> substring(arrayFirst(k -> startsWith(k, concat(replaceRegexpOne(n, '_u?id$', ''), ':')), keys), length(replaceRegexpOne(n, '_u?id$', '')) + 2), splitByChar(',', attrs_hoisted)), ' '))), {words:Array(String)}))
  AND (time, service, key) < (fromUnixTimestamp64Nano({after:Int64}, 'UTC'), {after_source:String}, {after_key:String})
ORDER BY time DESC, service DESC, key DESC
LIMIT {most:UInt32}
