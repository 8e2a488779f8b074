-- A row stays as long as a correlator may be away and still know how far it had come.
ALTER TABLE replicas MODIFY TTL toDateTime(seen_at) + INTERVAL 28 DAY
