-- The newest time that the store knows of; what claims to lie in the future does not count.
SELECT max(last) FROM liveness WHERE last <= now64(9) + INTERVAL 1 MINUTE
