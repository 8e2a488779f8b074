-- What was rolled out before and while something happened: what a rollout broke may be asked for late.
SELECT {{template "record_columns"}}
FROM events
WHERE allocation_id = ''
  AND name = 'deploy.change'
  AND time >= {from:DateTime64(9, 'UTC')} AND time <= {to:DateTime64(9, 'UTC')}
  AND minute >= intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000)
  AND minute <= intDiv(toUnixTimestamp64Nano({to:DateTime64(9, 'UTC')}), 60000000000)
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
ORDER BY time, key
LIMIT {most:UInt32}
