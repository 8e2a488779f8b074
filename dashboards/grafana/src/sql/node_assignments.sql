-- The allocations that had one node, and when.
SELECT object_id AS allocation_id,
    fromUnixTimestamp64Nano(minIf(valid_from, type = 'open'), 'UTC') AS assigned,
    if(countIf(type = 'close') = 0, NULL, fromUnixTimestamp64Nano(maxIf(valid_from, type = 'close'), 'UTC')) AS unassigned
FROM links
WHERE subject_kind = 'node' AND subject_id = ${node_id:sqlstring} AND object_kind = 'allocation' AND type IN ('open', 'close')
GROUP BY allocation_id
ORDER BY assigned DESC
LIMIT 200
