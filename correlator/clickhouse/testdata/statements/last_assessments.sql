-- The last word on some allocations.
SELECT answer
FROM assessments FINAL
WHERE allocation_id IN {allocations:Array(String)}
