-- Who belonged to whom.
ALTER TABLE links MODIFY TTL toMonday(ingested_time) + toIntervalDay(407)
