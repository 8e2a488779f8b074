-- The same from the other end.
ALTER TABLE links_by_object MODIFY TTL toMonday(ingested_time) + toIntervalDay(407)
