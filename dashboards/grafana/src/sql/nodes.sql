-- Nodes of which an installation is known, in order of their names.
SELECT DISTINCT subject_id
FROM links
WHERE subject_kind = 'node' AND object_kind = 'node_instance'
ORDER BY subject_id
LIMIT 1000
