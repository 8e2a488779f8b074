-- How the actor was known: a token's name, an issuer of identity tokens, or nobody asked.
ALTER TABLE audit ADD COLUMN via TEXT NOT NULL DEFAULT ''
