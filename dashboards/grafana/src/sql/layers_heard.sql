-- Who was heard of in the time range, and how much.
SELECT service AS source, sum(records) AS rows_written, sum(errors) AS errors, max(last) AS last_heard, dateDiff('second', last_heard, now64(9, 'UTC')) AS silent
FROM liveness
WHERE $__timeFilter(minute)
GROUP BY source
ORDER BY silent DESC, source
LIMIT 200
