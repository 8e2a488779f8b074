-- Who is judging: one lease row a replica, renewed every few seconds and read by all ("seen_at within the
-- lease"): a few rows, whatever their codecs. The server sets seen_at, so that clocks of replicas do not matter.
CREATE TABLE IF NOT EXISTS replicas
(
    replica String,
    seen_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    gone    UInt8
)
ENGINE = ReplacingMergeTree(seen_at)
ORDER BY replica
TTL toDateTime(seen_at) + INTERVAL 1 DAY
