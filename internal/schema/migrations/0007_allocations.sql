-- Every allocation that any record names or was stamped with, and when it was first and last heard of:
-- the list of allocations without a scan of evidence, and where to look for its evidence. Granules of 64
-- rows: it is asked for one allocation before any evidence is (3 KB read, 8 bytes a row more than with granules of 8,192, which are
-- 385 KB). Neighbours have nothing to do with each other in time: Delta makes times larger (all three together 14.6 bytes a
-- row, so 11.7).
CREATE TABLE IF NOT EXISTS allocations
(
    allocation_id String CODEC(ZSTD(1)),
    first_seen    SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(T64, ZSTD(1)),
    last_seen     SimpleAggregateFunction(max, DateTime64(9, 'UTC')) CODEC(ZSTD(1)),
    last_ingested SimpleAggregateFunction(max, DateTime) CODEC(ZSTD(1))
)
ENGINE = AggregatingMergeTree
ORDER BY allocation_id
SETTINGS index_granularity = 64, non_replicated_deduplication_window = 1000
