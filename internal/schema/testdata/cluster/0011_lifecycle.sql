CREATE VIEW IF NOT EXISTS lifecycle ON CLUSTER main AS
WITH entered AS
(
    SELECT
        allocation_id,
        arraySort(groupUniqArray((time, key, toString(state)))) AS s,
        arrayLastIndex(x -> x.3 != s[-1].3, s) AS other
    FROM states
    GROUP BY allocation_id
),
seen AS
(
    SELECT allocation_id, min(first_seen) AS first_seen, max(last_seen) AS last_seen
    FROM allocations
    GROUP BY allocation_id
)
SELECT
    seen.allocation_id AS allocation_id,
    if(empty(entered.s), '', entered.s[-1].3) AS state,
    if(empty(entered.s), NULL, entered.s[entered.other + 1].1) AS since,
    seen.first_seen AS first_seen,
    seen.last_seen AS last_seen
FROM seen
LEFT JOIN entered ON seen.allocation_id = entered.allocation_id;
