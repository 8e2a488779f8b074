-- Causes of the time range, by how many allocations a kept verdict blames on each.
SELECT layer, mechanism, uniqExact(allocation_id) AS allocations, max(as_of) AS last
FROM verdicts
WHERE $__timeFilter(ingested_time) AND outcome IN ('attributed', 'contested') AND layer IN (${layer:sqlstring})
GROUP BY layer, mechanism
ORDER BY allocations DESC, layer, mechanism
LIMIT 50
