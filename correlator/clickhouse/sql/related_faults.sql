-- The last word of each allocation in trouble that was judged since a moment, of those that hold some words.
SELECT argMax(answer, as_of) AS last
FROM verdicts
WHERE as_of >= {from:DateTime64(9, 'UTC')} AND as_of <= {as_of:DateTime64(9, 'UTC')} AND outcome != 'none'
GROUP BY allocation_id
HAVING position(last, {words:String}) > 0
LIMIT {most:UInt32}
