ALTER TABLE verdicts_local ON CLUSTER main MODIFY TTL toMonday(ingested_time) + toIntervalDay(407);
