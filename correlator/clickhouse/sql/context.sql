-- What belongs to nobody and may be cited, in a stretch of time around troubles. All of what tells: complaints, rollouts, hands of operators,
-- what was sent, and lines of any severity that hold a telling word (from `since` on; rollouts, and what is said of `nodes`, from the beginning).
-- All words are one regular expression: of 14,000 rows 0.05 s; multiSearchAny makes its tables anew for every block (1.0 s), and
-- multiMatchAny compiles for seconds.
-- And a sample of what is ordinary, two of a kind of a service: in a minute signs of life of a component on a node, and, close to where troubles
-- begin and end, lines, which tell what others met and who was at work; in ten minutes lines of their time between.
-- Lines of requests are of a kind that are alike but for their words with digits: identifiers, times, sizes; others are all of one.
SELECT {{template "record_columns"}}
FROM events
WHERE allocation_id = ''
  AND time >= {from:DateTime64(9, 'UTC')} AND time <= {to:DateTime64(9, 'UTC')}
  AND minute >= intDiv(toUnixTimestamp64Nano({from:DateTime64(9, 'UTC')}), 60000000000)
  AND minute <= intDiv(toUnixTimestamp64Nano({to:DateTime64(9, 'UTC')}), 60000000000)
  AND observed_time <= {as_of:DateTime64(9, 'UTC')}
  AND (name = 'deploy.change'
       OR (time >= {since:DateTime64(9, 'UTC')} OR node_id IN {nodes:Array(String)})
          AND (severity >= 13 OR name IN ('audit.action', 'outbox.record', 'heartbeat')
               OR name = '' AND {words:String} != '' AND match(body, {words:String}))
       OR (name = '' OR signal = 'span') AND arrayExists(p -> toUnixTimestamp64Nano(time) >= p.1 AND toUnixTimestamp64Nano(time) <= p.2, {during:Array(Tuple(Int64, Int64))}))
ORDER BY time, key
LIMIT 2 BY service, multiIf(
    name = 'heartbeat', concat(toString(minute), ' ', node_id, ' ', attrs_rest['component']),
    severity >= 13 OR name != '' AND signal = 'log' OR {words:String} != '' AND match(body, {words:String}), toString(key),
    concat(toString(if(arrayExists(p -> toUnixTimestamp64Nano(time) >= p.1 AND toUnixTimestamp64Nano(time) <= p.2, {near:Array(Tuple(Int64, Int64))}), minute, intDiv(minute, 10))),
           ' ', if(attrs_rest['http.response.status_code'] = '', '', concat(attrs_rest['http.response.status_code'], ' ', replaceRegexpAll(if(body = '', name, body), {digits:String}, '')))))
LIMIT {most:UInt32}
