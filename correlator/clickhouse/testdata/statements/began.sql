-- The earliest time that any record says which was stamped with one of these allocations: one range of a granule each.
SELECT allocation_id, min(first_seen)
FROM allocations
WHERE allocation_id IN {allocations:Array(String)}
GROUP BY allocation_id
