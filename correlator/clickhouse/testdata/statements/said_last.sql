-- The last word on every allocation, whole where there is something to tell.
SELECT allocation_id, toUnixTimestamp64Nano(as_of), outcome, if(notable, answer, '')
FROM assessments FINAL
LIMIT {most:UInt32}
