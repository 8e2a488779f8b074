-- What was said of one allocation, the newest first, each judgement once.
SELECT as_of AS time, outcome, layer, mechanism, JSONExtractString(answer, 'why') AS why,
    arrayStringConcat(JSONExtract(answer, 'differs', 'Array(String)'), '; ') AS differs
FROM verdicts FINAL
WHERE allocation_id = ${allocation_id:sqlstring}
ORDER BY as_of DESC
LIMIT 200
