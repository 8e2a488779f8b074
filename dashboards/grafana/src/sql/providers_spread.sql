-- The same over the whole time range, one row a provider: the middle and the edges of what its jobs took (seconds).
SELECT splitByChar('/', part)[1] AS provider, quantileExact(0.1)(took / 1e9) AS p10, quantileExact(0.5)(took / 1e9) AS p50, quantileExact(0.9)(took / 1e9) AS p90,
    quantileExact(0.99)(took / 1e9) AS p99
FROM steps FINAL
WHERE step = concat('job:', ${operation:sqlstring}) AND $__timeFilter(ended) AND splitByChar('/', part)[1] IN (${provider:sqlstring})
GROUP BY provider
ORDER BY provider
