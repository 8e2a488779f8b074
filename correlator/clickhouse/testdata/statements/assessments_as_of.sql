-- The last word on every allocation as of a moment, with something to tell or not.
SELECT argMax(answer, as_of)
FROM verdicts
WHERE as_of <= {as_of:DateTime64(9, 'UTC')}
GROUP BY allocation_id
ORDER BY max(as_of) DESC, allocation_id
LIMIT {most:UInt32}
