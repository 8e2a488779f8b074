ALTER TABLE links_local ON CLUSTER main MODIFY COLUMN ingested_time SimpleAggregateFunction(min, DateTime64(9, 'UTC')) DEFAULT now64(9, 'UTC') CODEC(ZSTD(1));

ALTER TABLE links ON CLUSTER main MODIFY COLUMN ingested_time SimpleAggregateFunction(min, DateTime64(9, 'UTC')) DEFAULT now64(9, 'UTC') CODEC(ZSTD(1));
