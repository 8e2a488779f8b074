-- Who renewed its lease lately.
SELECT replica FROM replicas FINAL
WHERE NOT gone AND seen_at >= now64(3, 'UTC') - toIntervalMillisecond({lease:UInt32})
ORDER BY replica
