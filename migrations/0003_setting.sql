-- What a flow's owner gives its transitions beside the state: settings in clear text, and secrets, which
-- reach the database only encrypted (XChaCha20-Poly1305, the flow and the name as associated data).

CREATE TABLE wed.setting (
  flow_id integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  key     text NOT NULL CHECK (key ~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,126}$'),
  value   text NOT NULL CHECK (octet_length(value) <= 65536),
  PRIMARY KEY (flow_id, key)
);

CREATE TABLE wed.secret (
  flow_id     integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  name        text NOT NULL CHECK (name ~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,126}$'),
  ciphertext  bytea NOT NULL CHECK (octet_length(ciphertext) <= 65552),
  nonce       bytea NOT NULL CHECK (octet_length(nonce) = 24),
  -- The transitions it is granted to, by name.
  transitions text[] NOT NULL DEFAULT '{}',
  -- Those that may send it in a header of a request, and not read it.
  senders     text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (flow_id, name)
);

-- What a transition may reach beyond its call, as far as the flow allows it; a host's operator must allow it
-- too.
CREATE TABLE wed."grant" (
  flow_id integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  trname  text NOT NULL,
  -- The files of its instances.
  files   boolean NOT NULL DEFAULT false,
  -- Hosts and ports to which it may speak HTTP: 'api.example.com:443'.
  http    text[] NOT NULL DEFAULT '{}' CHECK (cardinality(http) <= 32
            AND array_position(http, NULL) IS NULL AND array_to_string(http, ' ') ~ '^([^ /*]{1,255}:[0-9]{1,5}( |$))*$'),
  PRIMARY KEY (flow_id, trname)
);

REVOKE ALL ON wed.setting, wed.secret, wed."grant" FROM PUBLIC;
