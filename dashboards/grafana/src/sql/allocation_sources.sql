-- Who said how much of one allocation, over time.
WITH (
    SELECT (intDiv(toUnixTimestamp64Nano(min(first_seen)), 60000000000) - 1440, intDiv(toUnixTimestamp64Nano(max(last_seen)), 60000000000) + 1440)
    FROM allocations
    WHERE allocation_id = ${allocation_id:sqlstring}
) AS heard
SELECT $__timeInterval(time) AS at, toString(service) AS source, uniqExact(key) AS records
FROM events
WHERE allocation_id = ${allocation_id:sqlstring} AND minute >= heard.1 AND minute <= heard.2
  AND minute >= intDiv(toUnixTimestamp($__fromTime), 60) AND minute <= intDiv(toUnixTimestamp($__toTime), 60) AND $__timeFilter(time)
GROUP BY at, source
ORDER BY at, source
