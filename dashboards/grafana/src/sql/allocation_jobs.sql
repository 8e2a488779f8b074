-- The provider's jobs for one allocation: what they were asked for, how they ended, how long they waited and ran (seconds).
WITH
    (
        SELECT (intDiv(toUnixTimestamp64Nano(min(first_seen)), 60000000000) - 1440, intDiv(toUnixTimestamp64Nano(max(last_seen)), 60000000000) + 1440)
        FROM allocations
        WHERE allocation_id = ${allocation_id:sqlstring}
    ) AS heard,
    minIf(time, lower(attrs_rest['to']) IN ('pending', 'waiting')) AS asked,
    minIf(time, lower(attrs_rest['to']) = 'running') AS began,
    minIf(time, lower(attrs_rest['to']) IN ('succeeded', 'failed', 'canceled')) AS ended
SELECT
    substring(arrayFirst(k -> startsWith(k, 'provider_job:'), keys_rest), 14) AS provider_job,
    attrs_rest['provider'] AS provider, attrs_rest['operation'] AS operation,
    argMax(lower(attrs_rest['to']), time) AS state,
    if(toUnixTimestamp(asked) = 0 OR toUnixTimestamp(began) = 0, NULL, dateDiff('millisecond', asked, began) / 1000) AS waited,
    if(toUnixTimestamp(began) = 0 OR toUnixTimestamp(ended) = 0, NULL, dateDiff('millisecond', began, ended) / 1000) AS ran
FROM events
WHERE allocation_id = ${allocation_id:sqlstring} AND minute >= heard.1 AND minute <= heard.2 AND name = 'provider_job.state'
GROUP BY provider_job, provider, operation
ORDER BY provider_job
LIMIT 200
