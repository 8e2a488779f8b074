-- Who said how much of one node, over time.
WITH (
    SELECT (groupUniqArray(allocation_id), min(toInt64(first_minute)), max(toInt64(last_minute)))
    FROM key_locations
    WHERE key = concat('node:', ${node_id:sqlstring})
) AS lies
SELECT $__timeInterval(time) AS at, toString(service) AS source, uniqExact(key) AS records
FROM events
WHERE allocation_id IN (SELECT arrayJoin(lies.1)) AND minute >= lies.2 AND minute <= lies.3
  AND minute >= intDiv(toUnixTimestamp($__fromTime), 60) AND minute <= intDiv(toUnixTimestamp($__toTime), 60)
  AND node_id = ${node_id:sqlstring} AND $__timeFilter(time)
GROUP BY at, source
ORDER BY at, source
