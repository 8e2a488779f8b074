-- The last word on some allocations.
SELECT answer
FROM standings FINAL
WHERE allocation_id IN {allocations:Array(String)}
