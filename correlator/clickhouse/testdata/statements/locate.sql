-- Where everything lies that carries one of these identifiers and may be of a stretch of time, by its stamped or its observed time: the allocations
-- that it was stamped with ('' is nobody's), the minutes of each, and how far its clocks were wrong.
-- `key_locations` tells of what doesn't name its allocation itself; what does is told of by links, which whoever asks knows already (named).
SELECT allocation_id, min(first) AS first_minute, max(last) AS last_minute, max(skew) AS max_skew
FROM (
    SELECT allocation_id, toInt64(min(first_minute)) AS first, toInt64(max(last_minute)) AS last, toInt64(max(max_skew)) AS skew
    FROM key_locations
    WHERE key IN {keys:Array(String)}
    GROUP BY key, allocation_id
    HAVING last + skew + 2 >= {since_minute:Int64} AND first - skew - 2 <= {until_minute:Int64}
)
GROUP BY allocation_id
LIMIT {most:UInt32}
