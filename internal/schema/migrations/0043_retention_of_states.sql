-- Their states, as long.
ALTER TABLE states MODIFY TTL toMonday(ingested_time) + toIntervalDay(407)
