-- The installations of one node: each begins where it was opened, and ends where it was closed or the next one began.
SELECT node_instance_id, fromUnixTimestamp64Nano(opened, 'UTC') AS since,
    if(ends = 9223372036854775807, NULL, fromUnixTimestamp64Nano(ends, 'UTC')) AS until
FROM (
    SELECT node_instance_id, opened, least(closed, leadInFrame(opened, 1, toInt64(9223372036854775807)) OVER (ORDER BY opened ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING)) AS ends
    FROM (
        SELECT object_id AS node_instance_id, minIf(valid_from, type = 'open') AS opened,
            if(countIf(type = 'close') = 0, 9223372036854775807, maxIf(valid_from, type = 'close')) AS closed
        FROM links
        WHERE subject_kind = 'node' AND subject_id = ${node_id:sqlstring} AND object_kind = 'node_instance' AND type IN ('open', 'close')
        GROUP BY node_instance_id
        HAVING countIf(type = 'open') > 0
    )
)
ORDER BY since
LIMIT 200
