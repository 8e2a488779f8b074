-- What the relay has given up on: few rows, however many were sent.
CREATE INDEX outbox_unsent ON outbox (seq) WHERE state IN ('dead', 'failed')
