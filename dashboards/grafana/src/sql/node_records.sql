-- What a node, or anyone who names it, said; the newest thousand of the time range.
WITH (
    SELECT (groupUniqArray(allocation_id), min(toInt64(first_minute)), max(toInt64(last_minute)))
    FROM key_locations
    WHERE key = concat('node:', ${node_id:sqlstring})
) AS lies
SELECT time, service, name,
    multiIf(severity >= 17, 'error', severity >= 13, 'warn', severity >= 9, 'info', severity > 0, 'debug', '') AS level,
    multiIf(body != '', body, attrs_rest['to'] != '', concat(attrs_rest['from'], ' → ', attrs_rest['to'], ' ', attrs_rest['reason']), status_message) AS message,
    allocation_id, node_instance_id, via
FROM events
WHERE allocation_id IN (SELECT arrayJoin(lies.1)) AND minute >= lies.2 AND minute <= lies.3
  AND minute >= intDiv(toUnixTimestamp($__fromTime), 60) AND minute <= intDiv(toUnixTimestamp($__toTime), 60)
  AND node_id = ${node_id:sqlstring} AND $__timeFilter(time)
ORDER BY time DESC, key
LIMIT 1 BY key
LIMIT 1000
