-- What jobs of an operation took that came to their end, over time: half of them at most p50, nine of ten at most p90 (seconds).
SELECT $__timeInterval(ended) AS at, splitByChar('/', part)[1] AS provider, quantileExact(0.5)(took / 1e9) AS p50, quantileExact(0.9)(took / 1e9) AS p90
FROM steps FINAL
WHERE step = concat('job:', ${operation:sqlstring}) AND $__timeFilter(ended) AND splitByChar('/', part)[1] IN (${provider:sqlstring})
GROUP BY at, provider
ORDER BY at, provider
