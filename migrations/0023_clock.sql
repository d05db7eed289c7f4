-- Flows with conditions that look at the clock: when hosts look next whether one has become true. Kept by wed.compile_clock.
CREATE TABLE wed.clock (
  flow_id   integer PRIMARY KEY REFERENCES wed.flow ON DELETE CASCADE,
  next_look timestamptz NOT NULL DEFAULT '-infinity',
  from_wid  integer NOT NULL DEFAULT 0
);
COMMENT ON COLUMN wed.clock.from_wid IS 'The instance behind which the next look begins; 0: a new round.';
REVOKE ALL ON wed.clock FROM PUBLIC;
