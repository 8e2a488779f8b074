-- Links whose object is one of these keys, as known at an ingested time.
SELECT subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to
FROM links_by_object
WHERE (object_kind, object_id) IN {keys:Array(Tuple(String, String))}
  AND ingested_time <= {as_of:DateTime64(9, 'UTC')}
LIMIT {most:UInt32}
