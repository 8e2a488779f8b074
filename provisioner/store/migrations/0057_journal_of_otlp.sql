-- Kept OTLP requests. What waits in it is not told: no released version wrote any.
DROP TABLE journal
