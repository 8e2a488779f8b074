-- Where the verdict on one allocation changed.
SELECT as_of AS time, concat('verdict: ', outcome, if(layer = '', '', concat(', ', layer, '.', mechanism))) AS text, outcome AS tags
FROM verdicts FINAL
WHERE allocation_id = ${allocation_id:sqlstring} AND $__timeFilter(as_of)
ORDER BY as_of
LIMIT 200
