-- How many allocations have a word at all.
SELECT uniqExact(allocation_id) FROM assessments
