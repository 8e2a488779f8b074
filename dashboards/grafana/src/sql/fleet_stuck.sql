-- What is stuck, the longest overdue first, by the last word on every allocation. The layer is that of the strongest open fault, else of
-- whoever owes the next step: as GET /api/v1/stuck says it.
WITH
    JSONExtractArrayRaw(answer, 'assessment', 'verdict', 'faults') AS faults,
    arrayFirst(f -> JSONType(f, 'cleared_at') != 'String', faults) AS fault,
    outcome = 'attributed' AND fault != '' AS blamed
SELECT
    allocation_id,
    JSONExtractString(answer, 'assessment', 'state') AS state,
    if(blamed, JSONExtractString(fault, 'layer'), JSONExtractString(answer, 'assessment', 'stuck', 'owes')) AS layer,
    if(blamed, JSONExtractString(fault, 'owner', 'team'), JSONExtractString(answer, 'assessment', 'stuck', 'owner', 'team')) AS owner,
    JSONExtractString(answer, 'assessment', 'stuck', 'what') AS what,
    dateDiff('second', parseDateTime64BestEffort(JSONExtractString(answer, 'assessment', 'stuck', 'deadline'), 9, 'UTC'), now64(9, 'UTC')) AS overdue
FROM assessments FINAL
WHERE notable AND JSONHas(answer, 'assessment', 'stuck', 'what')
ORDER BY overdue DESC, allocation_id
LIMIT 500
