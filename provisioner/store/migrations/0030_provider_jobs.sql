-- Jobs of providers: what is wanted, what was launched, and what was last seen of it.
CREATE TABLE provider_jobs (
    job_key        TEXT PRIMARY KEY, -- allocation/operation/configuration version/attempt: one launch each
    allocation_id  TEXT NOT NULL REFERENCES allocations,
    workflow_id    TEXT NOT NULL,
    provider       TEXT NOT NULL,
    instance       TEXT NOT NULL,
    operation      TEXT NOT NULL,
    config_version TEXT NOT NULL,
    attempt        INTEGER NOT NULL,
    phase          TEXT NOT NULL, -- wanted, launching, following, ended
    job_id         TEXT NOT NULL DEFAULT '',
    kind           TEXT NOT NULL DEFAULT '',
    state          TEXT NOT NULL DEFAULT '',
    raw            TEXT NOT NULL DEFAULT '',
    message        TEXT NOT NULL DEFAULT '',
    explanation    TEXT NOT NULL DEFAULT '',
    result         TEXT NOT NULL DEFAULT '',
    observed       TEXT NOT NULL DEFAULT '',
    proof          TEXT NOT NULL DEFAULT '',
    failure        TEXT NOT NULL DEFAULT '', -- of the last call
    tries          INTEGER NOT NULL DEFAULT 0, -- launches that were refused
    cancel_at      INTEGER NOT NULL DEFAULT 0,
    cancel_answer  TEXT NOT NULL DEFAULT '',
    lease          TEXT NOT NULL DEFAULT '', -- who works on it; only the last one may write
    due_at         INTEGER NOT NULL,
    deadline       INTEGER NOT NULL,
    launched_at    INTEGER NOT NULL DEFAULT 0,
    polled_at      INTEGER NOT NULL DEFAULT 0,
    created_at     INTEGER NOT NULL,
    correlation_id TEXT NOT NULL,
    baggage        TEXT NOT NULL DEFAULT '',
    trace          TEXT NOT NULL,
    parent         TEXT NOT NULL
) STRICT
