-- What the last verdict on one allocation lacks: layers that were silent, and layers that may own the trouble.
SELECT what.1 AS kind, JSONExtractString(what.2, 'layer') AS layer, JSONExtractString(what.2, 'why') AS why
FROM (
    SELECT answer
    FROM verdicts
    WHERE allocation_id = ${allocation_id:sqlstring}
    ORDER BY as_of DESC, ingested_time DESC
    LIMIT 1
)
ARRAY JOIN arrayConcat(
    arrayMap(x -> ('missing', x), JSONExtractArrayRaw(answer, 'assessment', 'verdict', 'missing')),
    arrayMap(x -> ('candidate', x), JSONExtractArrayRaw(answer, 'assessment', 'verdict', 'candidates'))) AS what
