-- What was said last: verdicts as they changed in the time range.
SELECT as_of AS time, allocation_id, outcome, layer, mechanism, JSONExtractString(answer, 'why') AS why
FROM verdicts
WHERE $__timeFilter(ingested_time) AND outcome != 'none'
ORDER BY ingested_time DESC, allocation_id
LIMIT 100
