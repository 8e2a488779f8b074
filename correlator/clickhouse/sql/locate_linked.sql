-- Where everything lies that carries one of these identifiers: the allocations that it was stamped with ('' is nobody's) and the minutes of each.
-- `key_locations` tells of what doesn't name its allocation itself; what does has linked the identifier to it before it was written.
SELECT allocation_id, min(first) AS first_minute, max(last) AS last_minute, toInt64(0) AS max_skew
FROM (
    SELECT allocation_id, toInt64(first_minute) AS first, toInt64(last_minute) AS last
    FROM key_locations
    WHERE key IN {keys:Array(String)}
    UNION ALL
    SELECT allocation_id, intDiv(toUnixTimestamp64Nano(first_seen), 60000000000) AS first, intDiv(toUnixTimestamp64Nano(last_seen), 60000000000) AS last
    FROM allocations
    WHERE allocation_id GLOBAL IN (
        SELECT object_id FROM links WHERE (subject_kind, subject_id) IN {pairs:Array(Tuple(String, String))} AND object_kind = 'allocation')
       OR allocation_id IN {named:Array(String)}
)
GROUP BY allocation_id
LIMIT {most:UInt32}
