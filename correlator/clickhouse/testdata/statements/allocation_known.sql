-- When records that were stamped with an allocation say that they were made, in Unix minutes, a day wider on both sides for those that
-- are being written: none is elsewhere. No row where none ever was: who asks for an unknown one reads no evidence.
SELECT intDiv(toUnixTimestamp64Nano(min(first_seen)), 60000000000) - 1440, intDiv(toUnixTimestamp64Nano(max(last_seen)), 60000000000) + 1440
FROM allocations
WHERE allocation_id = {id:String}
HAVING count() > 0
