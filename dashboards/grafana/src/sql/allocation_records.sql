-- The records of one allocation, its own ranges only; the newest thousand of the time range.
WITH (
    SELECT (intDiv(toUnixTimestamp64Nano(min(first_seen)), 60000000000) - 1440, intDiv(toUnixTimestamp64Nano(max(last_seen)), 60000000000) + 1440)
    FROM allocations
    WHERE allocation_id = ${allocation_id:sqlstring}
) AS heard
SELECT time, service, name,
    multiIf(severity >= 17, 'error', severity >= 13, 'warn', severity >= 9, 'info', severity > 0, 'debug', '') AS level,
    multiIf(body != '', body, attrs_rest['to'] != '', concat(attrs_rest['from'], ' → ', attrs_rest['to'], ' ', attrs_rest['reason']), status_message) AS message,
    node_id, trace_id, via
FROM events
WHERE allocation_id = ${allocation_id:sqlstring} AND minute >= heard.1 AND minute <= heard.2
  AND minute >= intDiv(toUnixTimestamp($__fromTime), 60) AND minute <= intDiv(toUnixTimestamp($__toTime), 60) AND $__timeFilter(time)
ORDER BY time DESC, key
LIMIT 1 BY key
LIMIT 1000
