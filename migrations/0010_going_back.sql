-- What a trigger says beside its condition: which transition undoes its own, and how long its job may take in all.
CREATE TABLE wed.trigger_policy (
  tgid         integer PRIMARY KEY REFERENCES wed.trigger ON DELETE CASCADE,
  flow_id      integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  compensation text CHECK (compensation !~ '^_' AND octet_length(compensation) BETWEEN 1 AND 63),
  deadline     interval CHECK (deadline > '0')
);
CREATE INDEX trigger_policy_deadline ON wed.trigger_policy (flow_id) WHERE deadline IS NOT NULL;
COMMENT ON COLUMN wed.trigger_policy.compensation IS 'The transition that undoes a committed step; a trigger without condition fires it (wed.set_policy).';
COMMENT ON COLUMN wed.trigger_policy.deadline IS 'From firing until the end, all attempts and pauses between them; then the instance is an exception.';

-- Instances on their way back to an earlier step. The trace says which steps are undone.
CREATE TABLE wed.going_back (
  flow_id  integer NOT NULL,
  wid      integer NOT NULL,
  to_seq   integer NOT NULL,
  from_seq integer NOT NULL,
  stopped  boolean NOT NULL DEFAULT false,
  actor    text NOT NULL,
  reason   text NOT NULL,
  PRIMARY KEY (flow_id, wid)
);
COMMENT ON COLUMN wed.going_back.from_seq IS 'The newest trace row when it was begun or resumed.';
COMMENT ON COLUMN wed.going_back.stopped IS 'A compensation failed; going back again resumes it.';
REVOKE ALL ON wed.trigger_policy, wed.going_back FROM PUBLIC;
