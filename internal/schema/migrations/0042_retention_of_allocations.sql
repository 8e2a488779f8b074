-- Allocations, for as long as lifecycle events are kept.
ALTER TABLE allocations MODIFY TTL toMonday(last_ingested) + toIntervalDay(407)
