-- When the store took a record is told by the store's own clock. A Collector's was used before: one that ran ahead of the others had
-- its records read at once and theirs never, by whoever reads on from a mark; of two Collectors nobody could say who was first.
ALTER TABLE events MODIFY COLUMN ingested_time DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC') CODEC(ZSTD(1))
