-- A flow's conditions on the clock are looked at when one can become true, where that is known.
ALTER TABLE wed.clock
  ADD COLUMN not_before timestamptz NOT NULL DEFAULT '-infinity',
  ADD COLUMN seen_from timestamptz NOT NULL DEFAULT 'infinity';
COMMENT ON COLUMN wed.clock.next_look IS 'When a condition can become true of instances that do not change.';
COMMENT ON COLUMN wed.clock.not_before IS 'No look before, whatever has changed: looks take a part of the time.';
COMMENT ON COLUMN wed.clock.seen_from IS 'Earliest moment, found so far in this round, at which a condition can become true.';

-- Flows with conditions on the clock whose instances have changed since their last look.
CREATE TABLE wed.clock_changed (flow_id integer NOT NULL);
CREATE INDEX clock_changed_flow ON wed.clock_changed (flow_id);
REVOKE ALL ON wed.clock_changed FROM PUBLIC;

ALTER TABLE wed.flow ADD COLUMN timed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN wed.flow.timed IS 'The moments are known at which its conditions on the clock can become true.';
CREATE INDEX flow_timed ON wed.flow (flow_id) WHERE timed;
