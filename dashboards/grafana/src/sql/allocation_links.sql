-- Identifiers that lead to one allocation.
SELECT toString(subject_kind) AS kind, subject_id AS id, min(observed_time) AS observed
FROM links_by_object
WHERE object_kind = 'allocation' AND object_id = ${allocation_id:sqlstring}
GROUP BY kind, id
ORDER BY kind, id
LIMIT 500
