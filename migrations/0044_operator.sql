-- Tokens of operators of the installation, who manage tenants over HTTP. No tenant's token makes one.
CREATE TABLE wed.operator (
  operator_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name       text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  prefix     text NOT NULL UNIQUE,
  hash       bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  may_write  boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL
);
REVOKE ALL ON wed.operator FROM PUBLIC;
