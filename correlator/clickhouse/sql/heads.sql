-- Allocations of which anything was taken since a moment: their last state, as lifecycle tells it, and when they were heard of.
SELECT seen.allocation_id, if(empty(entered.s), '', entered.s[-1].3), if(empty(entered.s), NULL, entered.s[entered.other + 1].1), seen.first, seen.last, seen.taken
FROM
(
    SELECT allocation_id, min(first_seen) AS first, max(last_seen) AS last, max(last_ingested) AS taken
    FROM allocations
{{- if .Since}}
    WHERE allocation_id IN (SELECT allocation_id FROM allocations WHERE last_ingested >= toDateTime({since:DateTime64(9, 'UTC')}))
{{- end}}
    GROUP BY allocation_id
    ORDER BY last DESC
    LIMIT {most:UInt32}
) AS seen
LEFT JOIN
(
    SELECT allocation_id, arraySort(groupUniqArray((time, key, toString(state)))) AS s, arrayLastIndex(x -> x.3 != s[-1].3, s) AS other
    FROM states
{{- if .Since}}
    WHERE allocation_id IN (SELECT allocation_id FROM allocations WHERE last_ingested >= toDateTime({since:DateTime64(9, 'UTC')}))
{{- end}}
    GROUP BY allocation_id
) AS entered ON seen.allocation_id = entered.allocation_id
