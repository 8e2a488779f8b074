-- The nodes of one allocation, and when it had each.
SELECT subject_id AS node_id,
    fromUnixTimestamp64Nano(minIf(valid_from, type = 'open'), 'UTC') AS assigned,
    if(countIf(type = 'close') = 0, NULL, fromUnixTimestamp64Nano(maxIf(valid_from, type = 'close'), 'UTC')) AS unassigned
FROM links_by_object
WHERE object_kind = 'allocation' AND object_id = ${allocation_id:sqlstring} AND subject_kind = 'node' AND type IN ('open', 'close')
GROUP BY node_id
ORDER BY assigned
LIMIT 200
