-- The last word on every allocation with something to tell, newest first.
SELECT answer
FROM assessments FINAL
WHERE notable
ORDER BY as_of DESC, allocation_id
LIMIT {most:UInt32}
