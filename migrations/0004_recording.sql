-- What is kept of an attempt so that it can be run again byte for byte: what its host answered it, and
-- which component and which state it was. Written, with what the guest logged, in the transaction that
-- commits the attempt or records its failure; an attempt that asked its host for nothing, logged nothing
-- and was committed leaves nothing here.

-- The transaction that dealt with an attempt says which row of the trace, of the failed attempts, of the
-- log and of the recordings belong together: one transaction deals with one attempt of an instance.
ALTER TABLE wed.attempt ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();
ALTER TABLE wed.log ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();

CREATE TABLE wed.recording (
  flow_id      integer NOT NULL,
  wid          integer NOT NULL,
  xid          xid8 NOT NULL DEFAULT pg_current_xact_id(),
  tgid         integer NOT NULL,
  attempt      integer NOT NULL,
  component_id integer NOT NULL,
  from_seq     integer NOT NULL,
  deadline     bigint NOT NULL,
  answers      jsonb,
  digest       text,
  tstmp        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (flow_id, wid, xid)
);
-- What `wed.roll_trace` takes away with the days of the trace that it drops is found by time.
CREATE INDEX recording_time ON wed.recording USING brin (tstmp);
CREATE INDEX log_time ON wed.log USING brin (tstmp);
COMMENT ON COLUMN wed.recording.from_seq IS 'The trace row whose state was the payload.';
COMMENT ON COLUMN wed.recording.deadline IS 'As the guest was told: microseconds since 1970.';
COMMENT ON COLUMN wed.recording.answers IS 'What the host answered, in order; null when it was too much to keep.';
COMMENT ON COLUMN wed.recording.digest IS 'SHA-256 of what the guest answered.';
REVOKE ALL ON TABLE wed.recording FROM PUBLIC;
