-- What was said last of what a node is used for.
SELECT attrs_rest['to'], time
FROM events
WHERE node_id = {node:String} AND name = 'node.occupancy'
ORDER BY time DESC
LIMIT 1
