-- The last word on every allocation: what `verdicts` ends with, one row each, so that questions over all
-- allocations (stuck, drift, incidents) read no history. `answer` is the change as JSON. Of two rows the one
-- that was judged later stays; readers say FINAL.
-- By allocation: whoever judges asks for the last words on a few. Granules of 256 rows: two of them read 0.5 MB, with 8,192 rows
-- 15 MB, for 19 bytes of 128 a row; the answer, alone in its row, is 90 of them (ZSTD(1) 93, LZ4 177). Times are random beside names: T64 6.5
-- bytes, Delta 7.4.
-- notable: there is something to tell; the others are only counted.
CREATE TABLE IF NOT EXISTS assessments
(
    allocation_id String CODEC(ZSTD(1)),
    as_of         DateTime64(9, 'UTC') CODEC(T64, ZSTD(1)),
    outcome       LowCardinality(String) CODEC(ZSTD(1)),
    notable       UInt8 CODEC(T64, ZSTD(1)),
    answer        String CODEC(ZSTD(3)),
    ingested_time DateTime64(9, 'UTC') CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree(as_of)
ORDER BY allocation_id
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 1000
