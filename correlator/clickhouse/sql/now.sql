-- The store's own clock.
SELECT now64(9)
