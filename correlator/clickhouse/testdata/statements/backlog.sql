-- Allocations that go on by their last state, and those of which anything was taken since a moment, whatever their state: the most
-- recently heard of first. A moment of 0 asks for those alone that go on.
SELECT allocation_id
FROM lifecycle
WHERE state NOT IN {rest:Array(String)}
   OR allocation_id IN (SELECT allocation_id FROM allocations GROUP BY allocation_id 
                         HAVING toUnixTimestamp64Nano({since:DateTime64(9, 'UTC')}) != 0
                            AND max(last_ingested) >= toDateTime({since:DateTime64(9, 'UTC')}))
ORDER BY last_seen DESC, allocation_id
LIMIT {most:UInt32}
