-- The gate's decision as rows with names: what the pool says, the outcome, the next job, the refusal.

-- Causes of a state. The trace names a transition; any other cause stands there as it is written here.
CREATE TYPE wed.cause AS ENUM (
  'transition',  -- a job's transition, or the start of the instance
  '_EVENT',      -- attributes that were declared open
  '_CLOCK',      -- a condition that reads the clock has become true
  '_SKIP',       -- a job left the pool undone
  '_ABORT',      -- a job's attempts are used up
  '_DEADLINE',   -- a job's deadline has passed
  '_RETRY', '_ADHOC', '_REMATCH', '_BACK', '_CANCEL',  -- an operator
  '_EXCPT');     -- a worker that serves exceptions

-- A job that ends with a new state: its claim, and what the attempt used.
CREATE TYPE wed.finished AS (
  flow_id integer, wid integer, tgid integer, token bigint, fuel bigint, elapsed_us bigint, memory_bytes bigint);

-- What the pool says of an instance.
DROP TYPE wed.pool CASCADE;
CREATE TYPE wed.pool AS (
  row_id       tid,       -- the row of the job that ends; null: none
  trname       text,      -- of the job that ends, as the next three
  attempt      integer,
  from_seq     integer,   -- the trace row that fired it
  component_id integer,
  others       integer,   -- jobs that stay pending
  pending      integer[], -- their triggers
  has_exception boolean,  -- an _EXCPT job is among them
  has_waiting  boolean,   -- a job among them waits for the others to end
  is_compensation boolean, -- its job undoes a step
  status       "char",    -- before; null: it has no job, so it is new or final
  last_seq     integer,   -- the last trace row
  version      integer,   -- of the flow that satisfied was evaluated by
  satisfied    bigint[]); -- triggers that the last state satisfies

-- What a new state means.
CREATE TYPE wed.outcome AS (
  becomes   "char",    -- the status
  changes   boolean,   -- the status is another one than before
  forced    text,      -- why the instance must become an exception; null: it need not
  fires_exception boolean,
  fire      integer[], -- triggers to fire: satisfied and not pending
  satisfied bigint[],  -- to be kept with the jobs; null: not needed
  siblings  integer,   -- how many others each of its jobs has from now on
  seq       integer);  -- of the trace row to write

-- The first trigger that fires, and which jobs get rows of their own.
CREATE TYPE wed.next_job AS (
  reuses_row boolean,  -- the row of the job that ends becomes that of the first trigger's, leased already
  fire      integer[], -- triggers whose jobs get rows of their own
  tgid integer, tgname text, trname text, component_id integer, priority integer, timeout_ms bigint, timeout interval,
  constrained boolean); -- the first trigger reserves something, or comes after others

-- An instance on its way through the gate.
DROP TYPE wed.passing CASCADE;
CREATE TYPE wed.decision AS (
  instance wed.evaluated,
  finished wed.finished, -- null: no job ends
  pool     wed.pool,
  outcome  wed.outcome,
  next_job wed.next_job,
  refusal  text,         -- the code of the rule that forbids it
  trw      text);        -- what the trace names as the cause; null: the start

ALTER TABLE wed.job ADD COLUMN not_runnable boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN wed.job.not_runnable IS
  'With put_off: a host cannot run it, for the reason that stands there; else it waits for a lock.';
UPDATE wed.job SET not_runnable = true WHERE put_off LIKE 'it cannot run: %';

ALTER TABLE wed.job ADD COLUMN is_compensation boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN wed.job.is_compensation IS 'It undoes a step: the state that it leaves fires nothing.';
UPDATE wed.job SET is_compensation = true, satisfied = NULL WHERE satisfied = '{-1}';
