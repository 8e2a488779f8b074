-- What is said of an allocation as a whole: whose it is (tenant), who worked for it (provider). Small: a row or two an allocation.
-- The tenant is the value that was stamped first: a later word does not hand an allocation to somebody else. By allocation, in granules of
-- 256 rows: a tenant is asked for before anything else is read. Whoever keeps all in memory asks what changed (last_ingested), over all rows.
CREATE TABLE IF NOT EXISTS labels
(
    allocation_id String CODEC(ZSTD(1)),
    label         LowCardinality(String) CODEC(ZSTD(1)),
    value         String CODEC(ZSTD(1)),
    first_seen    SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(T64, ZSTD(1)),
    last_ingested SimpleAggregateFunction(max, DateTime) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
ORDER BY (allocation_id, label, value)
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
