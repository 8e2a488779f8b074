-- The installations of one node.
SELECT DISTINCT object_id
FROM links
WHERE subject_kind = 'node' AND subject_id = ${node_id:sqlstring} AND object_kind = 'node_instance'
LIMIT 200
