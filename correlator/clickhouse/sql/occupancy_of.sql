-- What was said last of what a node is used for: by its controller (view ''), and by each view that shows it.
SELECT if(name = 'node.occupancy', '', attrs_rest['projection']) AS view,
  argMax(if(name = 'node.occupancy', attrs_rest['to'], attrs_rest['value']), time) AS said, max(time) AS last
FROM events
WHERE node_id = {node:String} AND (name = 'node.occupancy' OR name = 'projection.observed' AND attrs_rest['field'] = 'occupancy')
{{- if .Located}}
  AND allocation_id IN {places:Array(String)} AND minute >= {first_minute:Int64} AND minute <= {last_minute:Int64}
{{- end}}
GROUP BY view
ORDER BY view
