-- The inserts since a stamp, but no further back than a while: the store's stamp of each and how many
-- of its rows are visible now, beside the store's clock. One row, with empty arrays where there are none.
-- Reads one column of the end of links_by_time.
WITH (SELECT now64(6)) AS clock
SELECT
    toUnixTimestamp64Micro(clock) AS now,
    groupArray(stamp) AS stamps,
    groupArray(visible) AS visible
FROM
(
    SELECT toUnixTimestamp64Micro(stored_time) AS stamp, count() AS visible
    FROM links_by_time
    WHERE stored_time >= greatest({since:DateTime64(6, 'UTC')}, clock - toIntervalMicrosecond({reach:Int64}))
    GROUP BY stored_time
)
