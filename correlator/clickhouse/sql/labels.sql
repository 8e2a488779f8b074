-- What is said of allocations as a whole, the first word of each kind first; of all, or of those of which anything was taken since a moment.
SELECT allocation_id, label, value, toUnixTimestamp64Nano(min(first_seen))
FROM labels
{{- if .Since}}
WHERE last_ingested >= toDateTime({since:DateTime64(9, 'UTC')})
{{- end}}
GROUP BY allocation_id, label, value
ORDER BY min(first_seen), value
