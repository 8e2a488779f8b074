ALTER TABLE events_local ON CLUSTER main MODIFY COLUMN ingested_time DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC') CODEC(ZSTD(1));

ALTER TABLE events ON CLUSTER main MODIFY COLUMN ingested_time DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC') CODEC(ZSTD(1));
