-- How far everything was judged when replicas were last heard of: the least of those whose leases were renewed about when the
-- newest was, alive or not. NULL where nobody ever said so.
SELECT minOrNull(judged)
FROM replicas FINAL
WHERE judged > toDateTime64(0, 9, 'UTC') AND seen_at >= (SELECT max(seen_at) FROM replicas) - toIntervalMillisecond({lease:UInt32})
