-- What the store keeps, the largest table first: rows, bytes on disk, and what a row takes.
SELECT table, sum(rows) AS kept_rows, sum(bytes_on_disk) AS bytes, bytes / greatest(kept_rows, 1) AS bytes_per_row, count() AS parts
FROM system.parts
WHERE database = currentDatabase() AND active
GROUP BY table
HAVING kept_rows > 0
ORDER BY bytes DESC, table
