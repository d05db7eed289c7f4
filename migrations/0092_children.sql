-- Transitions that start an instance of another flow of the tenant, and the instances that they started.
CREATE TABLE wed.subprocess (
  flow_id         integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  trname          text NOT NULL,
  starts          text NOT NULL CHECK (octet_length(starts) BETWEEN 1 AND 63),
  inputs          jsonb NOT NULL DEFAULT '{}' CHECK (octet_length(inputs::text) <= 65536),
  outputs         jsonb NOT NULL DEFAULT '{}' CHECK (octet_length(outputs::text) <= 65536),
  shares          text[] NOT NULL DEFAULT '{}',
  state_attribute text,
  PRIMARY KEY (flow_id, trname));
COMMENT ON TABLE wed.subprocess IS 'Transitions that other flows perform.';
COMMENT ON COLUMN wed.subprocess.inputs IS 'Attributes of the child, each with the parent''s that it gets.';
COMMENT ON COLUMN wed.subprocess.outputs IS 'Attributes of the parent, each with the child''s that it gets.';
COMMENT ON COLUMN wed.subprocess.shares IS 'Attributes that go in and come back, where the child has them.';
COMMENT ON COLUMN wed.subprocess.state_attribute IS 'Attribute of the parent that becomes SUCCEEDED or FAILED.';
CREATE TABLE wed.child (
  flow_id       integer NOT NULL,
  wid           integer NOT NULL,
  tgid          integer NOT NULL,
  seq           integer NOT NULL,
  tenant_id     integer NOT NULL,
  child_flow_id integer,
  child_wid     integer,
  depth         integer,
  state         text NOT NULL DEFAULT 'called'
    CHECK (state IN ('called', 'running', 'ended', 'returned', 'left', 'cancelled')),
  called_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at      timestamptz,
  PRIMARY KEY (flow_id, wid, tgid, seq));
COMMENT ON TABLE wed.child IS 'Children: instances that the jobs of other instances, their parents, started.';
COMMENT ON COLUMN wed.child.seq IS 'Trace row of the parent that fired the job.';
COMMENT ON COLUMN wed.child.depth IS 'Number of parents above it.';
COMMENT ON COLUMN wed.child.state IS 'called: to be started; running; ended: the parent is to be told; '
  'returned: it was; left: the parent waits no longer, it is to be cancelled; cancelled.';
CREATE UNIQUE INDEX child_instance ON wed.child (child_flow_id, child_wid) WHERE child_wid IS NOT NULL;
CREATE INDEX child_due ON wed.child (state) WHERE state IN ('called', 'ended', 'left');
CREATE INDEX child_live ON wed.child (tenant_id) WHERE state IN ('running', 'ended', 'left');
ALTER TABLE wed.instance ADD COLUMN is_child boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN wed.instance.is_child IS 'Whether another instance started it: its ends are told to that one.';
COMMENT ON COLUMN wed.job.blocked IS 'a: fired just now; p: waits for tasks before it; r: waits for its reservation; '
  'c: waits for its child. Due at infinity meanwhile.';
