-- Nodes that were heard of in the time range, the last one first.
SELECT substring(key, 6) AS node_id
FROM key_locations
WHERE startsWith(key, 'node:')
  AND last_minute >= intDiv(toUnixTimestamp($__fromTime), 60) AND first_minute <= intDiv(toUnixTimestamp($__toTime), 60)
GROUP BY key
ORDER BY max(last_minute) DESC, key
LIMIT 500
