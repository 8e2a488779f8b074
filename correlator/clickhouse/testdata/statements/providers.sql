-- Providers side by side: their jobs that were told of in a stretch of time, how they ended, and what 50, 90 and 99 of a hundred waited
-- and ran at most, and the most of all, in seconds.
SELECT
    provider, operation, count(), countIf(last = 'succeeded'), countIf(last = 'failed'), countIf(last = 'canceled'),
    countIf(last NOT IN ('succeeded', 'failed', 'canceled')),
    if(countIf(waited >= 0) = 0, [], quantilesExactIf(0.5, 0.9, 0.99, 1)(waited, waited >= 0)),
    if(countIf(ran >= 0) = 0, [], quantilesExactIf(0.5, 0.9, 0.99, 1)(ran, ran >= 0))
FROM
(
    SELECT
        arrayFirst(k -> startsWith(k, 'provider_job:'), keys_rest) AS job, attrs_rest['provider'] AS provider, attrs_rest['operation'] AS operation,
        argMax(lower(attrs_rest['to']), time) AS last,
        minIf(time, lower(attrs_rest['to']) IN ('pending', 'waiting')) AS asked,
        minIf(time, lower(attrs_rest['to']) = 'running') AS began,
        minIf(time, lower(attrs_rest['to']) IN ('succeeded', 'failed', 'canceled')) AS ended,
        if(toUnixTimestamp64Nano(asked) != 0 AND toUnixTimestamp64Nano(began) != 0, (toUnixTimestamp64Nano(began) - toUnixTimestamp64Nano(asked)) / 1e9, -1) AS waited,
        if(toUnixTimestamp64Nano(began) != 0 AND toUnixTimestamp64Nano(ended) != 0, (toUnixTimestamp64Nano(ended) - toUnixTimestamp64Nano(began)) / 1e9, -1) AS ran
    FROM events
    WHERE name = 'provider_job.state' AND attrs_rest['provider'] != ''
      AND time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Nano({to:Int64}, 'UTC')
      AND minute >= intDiv({from:Int64}, 60000000000) AND minute <= intDiv({to:Int64}, 60000000000)
    GROUP BY job, provider, operation
)
GROUP BY provider, operation
ORDER BY provider, operation
