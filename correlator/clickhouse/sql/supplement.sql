-- What judging left behind of one allocation, the latest.
SELECT answer, rules_version
FROM supplements
WHERE allocation_id = {id:String}
ORDER BY judged_at DESC
LIMIT 1
