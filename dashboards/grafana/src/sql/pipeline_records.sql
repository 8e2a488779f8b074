-- Records that arrived, over time, by source, out of the table of who was alive; a record that was delivered twice counts twice.
SELECT $__timeInterval(minute) AS at, toString(service) AS source, sum(records) AS arrived
FROM liveness
WHERE $__timeFilter(minute)
GROUP BY at, source
ORDER BY at, source
