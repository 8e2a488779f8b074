-- Whether a layer was alive, for as long as records of machines are kept.
ALTER TABLE liveness MODIFY TTL toMonday(last_ingested) + toIntervalDay(97)
