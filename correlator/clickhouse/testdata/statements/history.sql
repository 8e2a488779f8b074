-- What was said of one allocation, the newest first, each judgement once.
SELECT argMax(answer, ingested_time)
FROM verdicts
WHERE allocation_id = {allocation:String}
GROUP BY as_of, rules_version
ORDER BY as_of DESC, rules_version
LIMIT {most:UInt32}
