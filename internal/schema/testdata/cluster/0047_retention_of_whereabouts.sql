ALTER TABLE whereabouts_local ON CLUSTER main MODIFY TTL toMonday(last_ingested) + toIntervalDay(407);
