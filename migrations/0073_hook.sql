-- Inbound hooks: addresses that others' webhooks are posted to, and what of them becomes of instances (wed.take_event).
CREATE TABLE wed.hook (
  hook_id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  flow_id    integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  name       text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  address    text NOT NULL UNIQUE DEFAULT 'hk_' || replace(gen_random_uuid()::text, '-', ''),
  scheme     text NOT NULL CHECK (scheme IN ('standard', 'github')),
  secret     text NOT NULL CHECK (octet_length(secret) BETWEEN 16 AND 255),
  acts       text NOT NULL CHECK (acts IN ('start', 'set', 'both')),
  key        text CHECK (octet_length(key) <= 1000),
  attributes jsonb NOT NULL CHECK (octet_length(attributes::text) <= 16384),
  actor      text NOT NULL,
  since      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (flow_id, name));
COMMENT ON COLUMN wed.hook.address IS 'Last part of the path that messages are posted to; random, for it names none.';
COMMENT ON COLUMN wed.hook.scheme IS 'How messages are signed: as Standard Webhooks say, or as GitHub does.';
COMMENT ON COLUMN wed.hook.key IS 'JSON pointer to the business key of the instance that a message is about.';
COMMENT ON COLUMN wed.hook.attributes IS 'Attributes, each with the JSON pointer to its value in a message.';
