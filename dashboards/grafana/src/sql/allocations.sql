-- Allocations that were heard of in the time range, the last one first.
SELECT allocation_id
FROM allocations
WHERE $__timeFilter(last_seen)
GROUP BY allocation_id
ORDER BY max(last_seen) DESC
LIMIT 500
