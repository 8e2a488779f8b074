-- As which kinds of identifier one is known.
SELECT DISTINCT kind
FROM
(
    SELECT substring(key, 1, position(key, ':') - 1) AS kind FROM key_locations WHERE key IN {keys:Array(String)}
    UNION ALL
    SELECT subject_kind FROM links WHERE (subject_kind, subject_id) IN {pairs:Array(Tuple(String, String))}
    UNION ALL
    SELECT object_kind FROM links_by_object WHERE (object_kind, object_id) IN {pairs:Array(Tuple(String, String))}
    UNION ALL
    SELECT 'allocation' FROM allocations WHERE allocation_id = {id:String}
)
