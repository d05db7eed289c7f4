-- Attributes that change while instances run. A pending job that was fired before gets the present state as its payload
-- when it is claimed (wed.renew_payloads); states of the trace, which go back to names of then, are read with the names
-- of now (wed.with_present_names).
ALTER TABLE wed.trigger ADD COLUMN attributes_changed_at timestamptz NOT NULL DEFAULT '-infinity';
COMMENT ON COLUMN wed.trigger.attributes_changed_at IS
  'When attributes of its flow changed last; jobs fired before have a payload of other attributes.';
CREATE TABLE wed.renaming (
  flow_id    integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  renamed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  former     text NOT NULL,
  name       text NOT NULL
);
CREATE INDEX renaming_flow ON wed.renaming (flow_id, renamed_at);
REVOKE ALL ON wed.renaming FROM PUBLIC;
COMMENT ON TABLE wed.renaming IS 'Attributes that were renamed: the trace has their former names.';
