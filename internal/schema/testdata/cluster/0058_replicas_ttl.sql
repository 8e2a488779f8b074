ALTER TABLE replicas_local ON CLUSTER main MODIFY TTL toDateTime(seen_at) + INTERVAL 28 DAY;
