-- Who was heard of in the last day, when last, and which layer it said that it is. What claims to lie in the future does not count.
SELECT service, scope, layer, max(last)
FROM liveness
WHERE minute >= now64(0) - INTERVAL 1 DAY AND last <= now64(9) + INTERVAL 1 MINUTE
GROUP BY service, scope, layer
ORDER BY service, scope, layer
