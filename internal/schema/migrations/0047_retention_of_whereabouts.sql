-- Where records lie, for as long as any of them may.
ALTER TABLE whereabouts MODIFY TTL toMonday(last_ingested) + toIntervalDay(407)
