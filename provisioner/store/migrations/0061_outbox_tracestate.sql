-- What other tracers keep in the caller's trace.
ALTER TABLE outbox ADD COLUMN tracestate TEXT NOT NULL DEFAULT ''
