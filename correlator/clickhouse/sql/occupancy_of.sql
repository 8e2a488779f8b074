-- What was said last of what a node is used for.
SELECT attrs_rest['to'], time
FROM events
WHERE node_id = {node:String} AND name = 'node.occupancy'
{{- if .Located}}
  AND allocation_id IN {places:Array(String)} AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64}
{{- end}}
ORDER BY time DESC
LIMIT 1
