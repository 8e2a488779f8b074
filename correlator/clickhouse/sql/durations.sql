-- What 99 of 100 cases of every step took at most, nanoseconds, and how many there were.
SELECT step, arraySort(groupArray(took))[intDiv(99 * count() + 99, 100)], count()
FROM steps FINAL
WHERE ended > {from:DateTime64(9, 'UTC')} AND ended <= {to:DateTime64(9, 'UTC')}
GROUP BY step
SETTINGS do_not_merge_across_partitions_select_final = 1
