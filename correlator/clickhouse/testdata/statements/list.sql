-- Allocations with their last state, the most recently heard of first.
SELECT allocation_id, state, since, last_seen
FROM lifecycle
WHERE {state:String} = '' OR state = {state:String}
ORDER BY last_seen DESC, allocation_id
LIMIT {most:UInt32}
