-- How long one allocation was in each state; the last one lasts until now, unless nothing follows it.
SELECT stay.1 AS state, sum(stay.2) AS took
FROM (
    SELECT arrayJoin(arrayMap(i -> (s[i].3, dateDiff('millisecond', s[i].1,
        multiIf(i < length(s), s[i + 1].1, s[i].3 IN ('released', 'canceled'), s[i].1, now64(9, 'UTC'))) / 1000), arrayEnumerate(s))) AS stay
    FROM (
        SELECT arraySort(groupUniqArray((time, key, toString(state)))) AS s
        FROM states
        WHERE allocation_id = ${allocation_id:sqlstring}
    )
)
GROUP BY state
ORDER BY took DESC
