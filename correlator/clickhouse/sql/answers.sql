-- What some others were answered while an allocation had its trouble: requests, and the ends of tasks, jobs and runs. They are those whose records
-- begin or end closest to the trouble: rows of one allocation lie together, and all that lived at the time would be a granule each.
-- Two of a kind of a service in a minute, as a working set keeps them (correlator/live/ordinary.go): lines are of a kind that are alike but for their
-- words with digits. The regular expression finds a status where none is stated, in access lines.
SELECT {{template "record_columns"}}
FROM events
WHERE allocation_id IN (
        SELECT allocation_id
        FROM allocations
        WHERE allocation_id != {allocation:String} AND first_seen <= {to:DateTime64(9, 'UTC')} AND last_seen >= {from:DateTime64(9, 'UTC')}
        GROUP BY allocation_id
        ORDER BY min(least(abs(toUnixTimestamp64Nano(first_seen) - {at:Int64}), abs(toUnixTimestamp64Nano(last_seen) - {at:Int64}))), allocation_id
        LIMIT {others:UInt32})
  AND time >= {from:DateTime64(9, 'UTC')} AND time <= {to:DateTime64(9, 'UTC')}
  AND minute >= intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000)
  AND minute <= intDiv(toUnixTimestamp64Nano({to:DateTime64(9, 'UTC')}), 60000000000)
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
  AND (name IN ('task.state', 'provider_job.state', 'workflow.state') AND lower(attrs_rest['to']) IN ('succeeded', 'failed', 'rejected', 'completed')
       OR attrs_rest['http.response.status_code'] != ''
       OR signal = 'log' AND name = '' AND match(body, '[ "][2-5][0-9][0-9]([ "]|$)'))
ORDER BY time, key
LIMIT 2 BY service, minute, name, attrs_rest['to'], attrs_rest['http.response.status_code'], replaceRegexpAll(body, {digits:String}, '')
LIMIT {most:UInt32}
