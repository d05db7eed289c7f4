-- Constraints: what transitions reserve of resources that instances share, and the order of an instance's tasks.
-- A trigger that has any is constrained: its jobs are fired blocked, due at infinity, so that no index, no claim and no
-- worker needs to know. Who may have what is decided when a transaction commits (wed.hand_over_keys), under locks that are the
-- last it takes and are taken in one order.

-- What a trigger declares beside its condition.
CREATE TABLE wed.trigger_constraint (
  tgid     integer PRIMARY KEY REFERENCES wed.trigger ON DELETE CASCADE,
  flow_id  integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  keys     text,
  quantity text,
  reads    text[] NOT NULL DEFAULT '{}',
  resource text CHECK (resource IS NULL OR octet_length(resource) BETWEEN 1 AND 63 AND resource !~ '^#|[[:cntrl:]]'),
  holds    text NOT NULL DEFAULT 'transition' CHECK (octet_length(holds) BETWEEN 1 AND 63),
  consumes boolean NOT NULL DEFAULT false,
  after    text,
  terms    jsonb
);
CREATE INDEX trigger_constraint_flow ON wed.trigger_constraint (flow_id);
COMMENT ON COLUMN wed.trigger_constraint.keys IS 'Expression over the row, as Postgres understood it: a key, an array, or a document of quantities.';
COMMENT ON COLUMN wed.trigger_constraint.resource IS 'Shared by the flows of the tenant that declare it; null: the flow''s own.';
COMMENT ON COLUMN wed.trigger_constraint.holds IS 'transition, instance, or the trigger or transition whose commit ends it.';
COMMENT ON COLUMN wed.trigger_constraint.consumes IS 'What was held is taken from the capacity when it is released by a commit.';
COMMENT ON COLUMN wed.trigger_constraint.terms IS 'after, as a disjunction of conjunctions of names.';

ALTER TABLE wed.flow ADD COLUMN constrained boolean NOT NULL DEFAULT false;
ALTER TABLE wed.flow ADD COLUMN ordered boolean NOT NULL DEFAULT false;
ALTER TABLE wed.flow ADD COLUMN order_attribute text;
CREATE INDEX flow_constrained ON wed.flow (flow_id) WHERE constrained;
COMMENT ON COLUMN wed.flow.ordered IS 'Tasks of it have, or had, an order: what is done is kept in wed.task_done.';
COMMENT ON COLUMN wed.flow.order_attribute IS 'The attribute by which a transition''s result sets the order of its instance''s tasks.';
ALTER TABLE wed.trigger ADD COLUMN constrained boolean NOT NULL DEFAULT false;
ALTER TABLE wed.job ADD COLUMN blocked "char";
COMMENT ON COLUMN wed.job.blocked IS 'a: fired just now; p: waits for tasks before it; r: waits for its reservation. Due at infinity meanwhile.';
CREATE INDEX job_blocked ON wed.job (flow_id, wid) WHERE blocked IS NOT NULL;

-- How much there is of a key. Only counted reservations look here; flows change it by their view wed_resource.
CREATE TABLE wed.resource (
  tenant_id integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  resource  text NOT NULL,
  key       text NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 256),
  capacity  numeric NOT NULL,
  minimum   numeric NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, resource, key),
  CONSTRAINT resource_minimum CHECK (capacity >= minimum)
);

-- A job's request. Its number is its place in the order of arrival.
CREATE TABLE wed.request (
  request_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id  integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  flow_id    integer NOT NULL,
  wid        integer NOT NULL,
  tgid       integer NOT NULL,
  state      "char" NOT NULL CHECK (state IN ('d', 'n', 'w', 'h', 'f', 'c')),
  holds      text NOT NULL,
  consumes   boolean NOT NULL,
  leads      boolean NOT NULL DEFAULT false,
  ready_at   timestamptz,
  asked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  granted_at timestamptz,
  xid        xid8 NOT NULL DEFAULT pg_current_xact_id()
) WITH (fillfactor = 60);
CREATE INDEX request_instance ON wed.request (flow_id, wid);
CREATE INDEX request_open ON wed.request (xid) WHERE state IN ('n', 'f', 'c');
CREATE INDEX request_later ON wed.request (ready_at) WHERE state = 'd';
COMMENT ON COLUMN wed.request.state IS 'd: later (ready_at); n: new; w: waits; h: has all; f: to be freed; c: to be freed and taken from the capacity.';
COMMENT ON COLUMN wed.request.leads IS 'Stands for what its statement wrote: one hand-over for all.';

-- What a request is of, key by key.
CREATE TABLE wed.reservation (
  request_id bigint NOT NULL REFERENCES wed.request ON DELETE CASCADE,
  tenant_id  integer NOT NULL,
  resource   text NOT NULL,
  key        text NOT NULL,
  amount     numeric,
  priority   integer NOT NULL,
  held       boolean DEFAULT false,
  beside     boolean NOT NULL DEFAULT false,
  PRIMARY KEY (request_id, key)
) WITH (fillfactor = 60);
-- Two instances never hold one key: not counted, but a unique key.
CREATE UNIQUE INDEX reservation_holder ON wed.reservation (tenant_id, resource, key)
  WHERE held AND amount IS NULL AND NOT beside;
CREATE INDEX reservation_held ON wed.reservation (tenant_id, resource, key) WHERE held;
CREATE INDEX reservation_queue ON wed.reservation (tenant_id, resource, key, priority DESC, request_id) WHERE NOT held;
COMMENT ON COLUMN wed.reservation.amount IS 'Null: exclusive.';
COMMENT ON COLUMN wed.reservation.held IS 'Null: not queued yet.';
COMMENT ON COLUMN wed.reservation.priority IS 'Its trigger''s; that of an instance that holds something already is the highest, or it could be waited for in a circle.';
COMMENT ON COLUMN wed.reservation.beside IS 'The instance holds the key by an earlier request too.';

-- Whose row is locked decides about the key. Rows of keys that nobody wants are removed by the hosts' sweep.
CREATE TABLE wed.resource_lock (
  tenant_id integer NOT NULL,
  resource  text NOT NULL,
  key       text NOT NULL,
  used_at   timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, resource, key)
) WITH (fillfactor = 50);
CREATE TYPE wed.resource_key AS (tenant_id integer, resource text, key text);

-- The order of tasks, added while running: of one instance, or (wid null) of all.
CREATE TABLE wed.precedence (
  precedence_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  flow_id integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  wid     integer,
  tgid    integer NOT NULL REFERENCES wed.trigger ON DELETE CASCADE,
  after   text NOT NULL,
  terms   jsonb NOT NULL,
  actor   text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX precedence_once ON wed.precedence (flow_id, coalesce(wid, 0), tgid, after);
-- What an instance has done, of flows whose tasks have an order.
CREATE TABLE wed.task_done (
  flow_id integer NOT NULL,
  wid     integer NOT NULL,
  tgid    integer NOT NULL,
  PRIMARY KEY (flow_id, wid, tgid)
);

-- Numbers that no two instances share. A gapless series keeps its free numbers as rows: who takes one locks it only.
CREATE TABLE wed.numbering (
  flow_id   integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  attribute text NOT NULL,
  gapless   boolean NOT NULL,
  made_to   bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (flow_id, attribute)
);
CREATE TABLE wed.free_number (
  flow_id   integer NOT NULL,
  attribute text NOT NULL,
  number    bigint NOT NULL,
  PRIMARY KEY (flow_id, attribute, number),
  FOREIGN KEY (flow_id, attribute) REFERENCES wed.numbering ON DELETE CASCADE
);
REVOKE ALL ON wed.trigger_constraint, wed.resource, wed.request, wed.reservation, wed.resource_lock, wed.precedence,
  wed.task_done, wed.numbering, wed.free_number FROM PUBLIC;
