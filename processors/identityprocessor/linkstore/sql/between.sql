-- The links of a stretch of the store's time, in its order: who is cut off goes on from the last one seen.
SELECT toUnixTimestamp64Micro(stored_time), service, subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to
FROM links_by_time
WHERE stored_time >= {from:DateTime64(6, 'UTC')} AND stored_time < {to:DateTime64(6, 'UTC')}
ORDER BY stored_time
