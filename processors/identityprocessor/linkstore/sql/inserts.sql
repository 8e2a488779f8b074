-- The links of a few inserts.
SELECT toUnixTimestamp64Micro(stored_time), service, subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to
FROM links_by_time
WHERE stored_time IN {stamps:Array(DateTime64(6, 'UTC'))}
