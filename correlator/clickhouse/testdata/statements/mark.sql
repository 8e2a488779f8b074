-- What was ingested up to now. A Collector's clock may run ahead of the store's: what it wrote is there
-- all the same. The maximum comes from the parts' own bounds, no row is read.
SELECT greatest(now64(9), (SELECT max(ingested_time) FROM events))
