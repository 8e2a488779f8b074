-- The last verdict on one allocation, a row for each fault; one row where there is none.
SELECT
    as_of AS judged,
    outcome,
    JSONExtractString(fault, 'layer') AS layer,
    JSONExtractString(fault, 'mechanism') AS mechanism,
    JSONExtractString(fault, 'confidence') AS confidence,
    JSONExtractString(fault, 'owner', 'team') AS owner,
    if(fault = '', JSONExtractString(answer, 'assessment', 'verdict', 'explanation'), JSONExtractString(fault, 'summary')) AS summary,
    JSONExtractString(fault, 'next_check') AS next_check,
    JSONExtractString(fault, 'safe_action') AS safe_action,
    JSONExtractString(fault, 'cleared_at') AS cleared_at,
    JSONExtractString(fault, 'rule') AS rule
FROM (
    SELECT as_of, outcome, answer
    FROM verdicts
    WHERE allocation_id = ${allocation_id:sqlstring}
    ORDER BY as_of DESC, ingested_time DESC
    LIMIT 1
)
LEFT ARRAY JOIN JSONExtractArrayRaw(answer, 'assessment', 'verdict', 'faults') AS fault
