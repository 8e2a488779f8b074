CREATE TABLE IF NOT EXISTS replicas_local ON CLUSTER main
(
    replica String,
    seen_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    gone    UInt8
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', seen_at)
ORDER BY replica
TTL toDateTime(seen_at) + INTERVAL 1 DAY;

CREATE TABLE IF NOT EXISTS replicas ON CLUSTER main AS replicas_local
ENGINE = Distributed('main', currentDatabase(), 'replicas_local', cityHash64(replica));
