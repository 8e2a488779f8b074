-- The last state of one allocation and since when, as the view lifecycle says it.
SELECT s[-1].3 AS state, s[arrayLastIndex(x -> x.3 != s[-1].3, s) + 1].1 AS since, dateDiff('second', since, now64(9, 'UTC')) AS age
FROM (
    SELECT arraySort(groupUniqArray((time, key, toString(state)))) AS s
    FROM states
    WHERE allocation_id = ${allocation_id:sqlstring}
)
WHERE notEmpty(s)
