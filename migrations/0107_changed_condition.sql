-- Triggers whose condition a definition changed: their pending jobs are looked at once more, from a number of an
-- instance on, and listed as stale where it does not hold (wed.list_stale).
CREATE TABLE wed.changed_condition (
  flow_id  integer NOT NULL,
  tgid     integer NOT NULL,
  from_wid integer NOT NULL DEFAULT 0,
  since    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (flow_id, tgid)
);
REVOKE ALL ON wed.changed_condition FROM PUBLIC;
