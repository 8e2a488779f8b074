-- Links of which one end is one of these keys ("kind:id"), as known by a time. Both tables in one statement: to plan one costs as much as to read.
SELECT subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to
FROM links
WHERE (subject_kind, subject_id) IN {keys:Array(Tuple(String, String))}
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
LIMIT {most:UInt32}
UNION ALL
SELECT subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to
FROM links_by_object
WHERE (object_kind, object_id) IN {keys:Array(Tuple(String, String))}
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
LIMIT {most:UInt32}
