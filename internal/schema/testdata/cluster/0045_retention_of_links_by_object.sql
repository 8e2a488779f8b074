ALTER TABLE links_by_object_local ON CLUSTER main MODIFY TTL toMonday(ingested_time) + toIntervalDay(407);
