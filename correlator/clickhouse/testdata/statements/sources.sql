-- Who sent anything in a stretch of time, and which layer it said that it is.
SELECT DISTINCT service, scope, layer
FROM liveness
WHERE minute >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') - INTERVAL 1 MINUTE AND minute <= fromUnixTimestamp64Nano({last:Int64}, 'UTC')
