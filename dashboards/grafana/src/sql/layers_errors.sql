-- Errors that sources reported, over time, out of the table of who was alive.
SELECT $__timeInterval(minute) AS at, toString(service) AS source, sum(errors) AS reported
FROM liveness
WHERE $__timeFilter(minute)
GROUP BY at, source
HAVING reported > 0
ORDER BY at, source
