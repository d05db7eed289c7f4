-- Exceptions are announced to webhooks; circuit breakers that are open are on record, so that a job can say why it waits.

-- Where a tenant's exceptions are announced: of one flow, or of all. The secret signs the messages; like the flows'
-- passwords it is readable by the owner only.
CREATE TABLE wed.webhook (
  webhook_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id  integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  flow_id    integer REFERENCES wed.flow ON DELETE CASCADE,
  url        text NOT NULL CHECK (url ~ '^https?://[^[:space:]@]+$' AND octet_length(url) <= 2048),
  secret     text NOT NULL,
  actor      text NOT NULL,
  made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE NULLS NOT DISTINCT (tenant_id, flow_id, url)
);

-- Messages that are still to be delivered, written in the transaction that announces an exception. Taking one makes it
-- due again later, so that a host that dies while it sends loses none.
CREATE TABLE wed.outbox (
  message_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id integer NOT NULL REFERENCES wed.webhook ON DELETE CASCADE,
  tenant_id  integer NOT NULL,
  body       jsonb NOT NULL,
  attempt    integer NOT NULL DEFAULT 0,
  due        timestamptz NOT NULL DEFAULT clock_timestamp(),
  made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_error text
);
CREATE INDEX outbox_due ON wed.outbox (tenant_id, due);
CREATE INDEX outbox_webhook ON wed.outbox (webhook_id);

-- Circuit breakers that hosts hold open.
CREATE TABLE wed.circuit (
  host_id      integer NOT NULL REFERENCES wed.host ON DELETE CASCADE,
  component_id integer NOT NULL,
  trname       text NOT NULL,
  opened_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (host_id, component_id, trname)
);
REVOKE ALL ON wed.webhook, wed.outbox, wed.circuit FROM PUBLIC;
