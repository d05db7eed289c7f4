-- The gate: results as rows of one type, reasons of waiting in columns of their own, what hosts need of a flow in our own
-- tables, templates of the functions that each flow has.

-- What ends a job: its claim, what the attempt used, and the literals of its clause.
CREATE TYPE wed.result AS (
  wid integer, tgid integer, token bigint, fuel bigint, elapsed_us bigint, memory_bytes bigint, literals text[]);

-- Results of one flow with one shape of clause.
CREATE TYPE wed.result_group AS (
  version      integer,      -- the flow's version that they were made for
  shape_schema text,
  assigned     text[],       -- attributes; without set_clause, literal n is the value of attribute n
  set_clause   text,         -- checked by the guard; literal n is _b._n in it
  results      wed.result[]  -- in the order of wid
);

-- Who changes an instance by a statement of its own: which job that ends, what it may set, whether a rule forbids it.
CREATE TYPE wed.writing AS (
  wid integer,
  tgid integer,        -- the trigger of the job that ends; null: an event
  transition text,
  may_set text[],      -- null: every attribute
  refusal text);
-- The attributes of an instance that a statement changed.
CREATE TYPE wed.change AS (wid integer, attributes text[]);

-- An attempt that changed nothing, as a host reports it.
CREATE TYPE wed.failure AS (
  flow integer, wid integer, token bigint, outcome text, message text, retry boolean, after_us bigint,
  fuel bigint, us bigint, mem bigint);

-- How many jobs a tenant may be given by a claim.
CREATE TYPE wed.room AS (tenant_id integer, jobs integer);

-- An instance on its way through the gate: what the pool says of it, and what is decided.
DROP TYPE wed.passing CASCADE;
-- Of arrays that were told apart by position.
DROP TYPE wed.batch;
CREATE TYPE wed.passing AS (
  turns     boolean,  -- the row of the job that ends becomes that of the first fired one, leased already
  ends      boolean,  -- the job that ends leaves the pool
  forks     boolean,  -- more is fired than that row
  excepts   boolean,  -- it becomes an exception
  changes   boolean,  -- its status changes
  waiting   boolean,  -- a job of it waits for the others to end
  constrained boolean, -- the first trigger that fires reserves something, or comes after others
  others    integer,  -- jobs that stay pending
  beside    integer,  -- how many others each of its jobs has from now on
  flow_id   integer,
  version   integer,
  wid       integer,
  seq       integer,  -- of the trace row to write
  from_seq  integer,  -- of the trace row whose state fired the job that ends
  tgid      integer,  -- the trigger of the job that ends
  attempt   integer,
  component_id integer,
  own       tid,      -- the row of the job that ends
  becomes   "char",
  next_tgid integer,  -- the first trigger that fires
  next_component integer,
  next_priority integer,
  next_timeout_ms bigint,
  next_timeout interval,
  fuel bigint, elapsed_us bigint, memory_bytes bigint,
  next_trname text,
  next_tgname text,
  trw       text,     -- what wrote; null for a new instance
  refusal   text,     -- the code of the rule that forbids it
  forced    text,     -- why the instance must become an exception, if it must
  fire      integer[], -- triggers to fire: satisfied and not pending
  satisfied bigint[], -- evaluated and kept
  payload   text,
  state     text
);

-- Why an unclaimed job waits: a reason each.
ALTER TABLE wed.job RENAME COLUMN waits_for TO put_off;
ALTER TABLE wed.job ADD COLUMN awaits_siblings boolean NOT NULL DEFAULT false;
UPDATE wed.job SET awaits_siblings = true, put_off = NULL WHERE put_off !~ 'lock';
COMMENT ON COLUMN wed.job.put_off IS 'What another session holds, so that its result could not be committed; null: nothing.';
COMMENT ON COLUMN wed.job.awaits_siblings IS 'Its result is final and waits for the other jobs of its instance; due at infinity.';

-- Attributes as hosts need them: wed_attr is its tenant's, who may lock it.
CREATE TABLE wed.attribute (
  flow_id integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  aname   text NOT NULL,
  atype   text NOT NULL,
  attnum  smallint NOT NULL,
  PRIMARY KEY (flow_id, aname)
);
DO $$
DECLARE
  _flow wed.flow;
BEGIN
  FOR _flow IN SELECT * FROM wed.flow LOOP
    EXECUTE format('INSERT INTO wed.attribute SELECT $1, w.aname, w.atype, a.attnum FROM %1$I.wed_attr w
                    JOIN pg_attribute a ON a.attname = w.aname AND a.attrelid = ''%1$I.wed_flow''::regclass', _flow.schema_name)
      USING _flow.flow_id;
  END LOOP;
END $$;

ALTER TABLE wed.flow ADD COLUMN attributes_version integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN wed.flow.attributes_version IS
  'The version in which an attribute got another name or type or was removed: results made for an older one are made anew.';

-- Text of the functions and views that each flow has, with placeholders: migrations/functions/define/templates.
CREATE TABLE wed.template (name text PRIMARY KEY, text text NOT NULL);

-- Numbers of instances that were given by hand in transactions under way: the sequence follows when they commit.
CREATE TABLE wed.given_wid (
  flow_id integer NOT NULL,
  wid     integer NOT NULL
);

-- Jobs whose attempts are used up while nobody holds them: workers that were ended, hosts that died. Each makes its instance an
-- exception, in a transaction of its own (wed.end_exhausted).
CREATE TABLE wed.exhausted (
  flow_id integer NOT NULL,
  wid     integer NOT NULL,
  tgid    integer NOT NULL,
  seq     integer NOT NULL,
  message text NOT NULL,
  PRIMARY KEY (flow_id, wid, tgid)
);
COMMENT ON COLUMN wed.exhausted.seq IS 'The trace row that fired the job: a job that was fired anew is another one.';

ALTER TABLE wed.host ADD COLUMN interface integer NOT NULL DEFAULT 1;
COMMENT ON COLUMN wed.host.interface IS 'The number of the interface between hosts and database that its program knows (wed.interface_version).';

REVOKE ALL ON wed.attribute, wed.template, wed.given_wid, wed.exhausted FROM PUBLIC;
