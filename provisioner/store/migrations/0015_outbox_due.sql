-- The relay's queue.
CREATE INDEX outbox_due ON outbox (next_at, seq) WHERE state IN ('pending', 'failed')
