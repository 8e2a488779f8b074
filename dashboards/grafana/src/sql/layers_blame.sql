-- How many allocations got a verdict that blames a layer, over time, by the verdicts that were kept.
SELECT $__timeInterval(ingested_time) AS at, toString(layer) AS blamed, uniqExact(allocation_id) AS allocations
FROM verdicts
WHERE $__timeFilter(ingested_time) AND outcome IN ('attributed', 'contested') AND layer IN (${layer:sqlstring})
GROUP BY at, blamed
ORDER BY at, blamed
