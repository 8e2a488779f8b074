-- The newest time that the store knows of; what claims to lie in the future does not count. It is in the newest minute that has one, the
-- end of a range.
SELECT max(last) FROM liveness
WHERE minute = (SELECT minute FROM liveness WHERE minute <= now64(9) + INTERVAL 1 MINUTE AND last <= now64(9) + INTERVAL 1 MINUTE ORDER BY minute DESC LIMIT 1)
  AND last <= now64(9) + INTERVAL 1 MINUTE
