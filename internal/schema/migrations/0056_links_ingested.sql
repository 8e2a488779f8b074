-- As events: a link's time of arrival is the store's.
ALTER TABLE links MODIFY COLUMN ingested_time SimpleAggregateFunction(min, DateTime64(9, 'UTC')) DEFAULT now64(9, 'UTC') CODEC(ZSTD(1))
