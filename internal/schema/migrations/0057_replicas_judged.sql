-- How far each replica has judged what the store took: who begins, or takes over the share of one that died, goes on from there.
ALTER TABLE replicas ADD COLUMN IF NOT EXISTS judged DateTime64(9, 'UTC')
