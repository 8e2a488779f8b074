-- What steps took that came to their end in the time range, by provider: each step with how many cases, and with its spread.
-- A job says its provider itself; of other steps the provider is that of their allocation, and those of several count for each.
SELECT step, provider, count() AS cases, quantileExact(0.1)(seconds) AS p10, quantileExact(0.5)(seconds) AS p50, quantileExact(0.9)(seconds) AS p90,
    quantileExact(0.99)(seconds) AS p99, max(seconds) AS longest, stddevSampStable(seconds) AS deviation
FROM (
    SELECT toString(taken.step) AS step, label.value AS provider, taken.took / 1e9 AS seconds
    FROM (SELECT step, allocation_id, part, took FROM steps FINAL WHERE $__timeFilter(ended)) AS taken
    INNER JOIN (
        SELECT allocation_id, value
        FROM labels
        WHERE label = 'provider' AND value IN (${provider:sqlstring})
        GROUP BY allocation_id, value
    ) AS label ON taken.allocation_id = label.allocation_id
    WHERE NOT startsWith(taken.step, 'job') OR splitByChar('/', taken.part)[1] = label.value
)
GROUP BY step, provider
ORDER BY step, provider
LIMIT 500
