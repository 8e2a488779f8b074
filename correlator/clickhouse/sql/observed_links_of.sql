-- Links whose subject is one of these keys ("kind:id"), as known by a time.
SELECT subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to
FROM links
WHERE (subject_kind, subject_id) IN {keys:Array(Tuple(String, String))}
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
LIMIT {most:UInt32}
