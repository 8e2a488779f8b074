-- Verdicts as they were given.
ALTER TABLE verdicts MODIFY TTL toMonday(ingested_time) + toIntervalDay(407)
