-- What is said of one allocation as a whole.
SELECT allocation_id, label, value, toUnixTimestamp64Nano(min(first_seen))
FROM labels
WHERE allocation_id = {id:String}
GROUP BY allocation_id, label, value
ORDER BY min(first_seen), value
