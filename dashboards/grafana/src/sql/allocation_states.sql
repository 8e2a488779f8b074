-- The states of one allocation as they followed each other.
SELECT DISTINCT time, toString(state) AS state
FROM states
WHERE allocation_id = ${allocation_id:sqlstring}
ORDER BY time
LIMIT 1000
