-- Append-only: who did what by hand.
CREATE TABLE audit (
    audit_id       TEXT PRIMARY KEY,
    actor          TEXT NOT NULL,
    actor_type     TEXT NOT NULL,
    action         TEXT NOT NULL,
    allocation_id  TEXT NOT NULL,
    node_id        TEXT NOT NULL,
    reason         TEXT NOT NULL,
    before         TEXT NOT NULL,
    after          TEXT NOT NULL,
    evidence       TEXT NOT NULL,
    outcome        TEXT NOT NULL DEFAULT 'done', -- done, refused (a guard said no) or denied (the caller may not)
    via            TEXT NOT NULL DEFAULT '', -- how the actor was known: a token's name, an issuer of identity tokens, or nobody asked
    subject        TEXT NOT NULL DEFAULT '', -- what was acted on, where it is neither an allocation nor a node
    verdict        TEXT NOT NULL DEFAULT '', -- that justified it, as JSON; says so where there was none
    detail         TEXT NOT NULL DEFAULT '', -- of what was refused or denied: why; of what was done: what else has changed
    correlation_id TEXT NOT NULL,
    at             INTEGER NOT NULL
) STRICT
