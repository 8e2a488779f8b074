-- What is said of allocations as a whole, the first word of each kind first; of all, or of those of which anything was taken since a moment.
SELECT allocation_id, label, value, toUnixTimestamp64Nano(min(first_seen))
FROM labels
GROUP BY allocation_id, label, value
ORDER BY min(first_seen), value
