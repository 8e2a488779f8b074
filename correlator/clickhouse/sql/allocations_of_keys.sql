-- The allocations that records with one of these keys were stamped with.
SELECT allocation_id, max(time) AS last
FROM events
WHERE hasAny(keys, {keys:Array(String)}) AND allocation_id != ''
{{- if .Located}}
  AND allocation_id IN {places:Array(String)} AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64}
{{- end}}
GROUP BY allocation_id
ORDER BY last DESC, allocation_id
LIMIT 1000
