-- Triggers that only wait: for an open attribute, alone or with a time limit (decision 0088).
ALTER TABLE wed.trigger ADD COLUMN waits_for text;
COMMENT ON COLUMN wed.trigger.waits_for IS
  'Open attribute that ends the wait; with a transition, that is due behind the delay. Null: a job like others.';
ALTER TABLE wed.job ADD COLUMN is_wait boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN wed.job.is_wait IS
  'Until it is due it is a wait: it ends with its condition, and keeps neither the final state nor an exception away.';
ALTER TYPE wed.pool ADD ATTRIBUTE waits integer[];
ALTER TYPE wed.outcome ADD ATTRIBUTE ends integer[];
