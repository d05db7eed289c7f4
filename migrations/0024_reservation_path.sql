-- A reservation at the speed of a host's batch: no row is checked by a foreign key of its own, and one index finds all of a key.
-- Whoever removes a request removes its keys (wed.drop_requests); requests of a tenant end with its flows (wed.drop_flow).
ALTER TABLE wed.reservation DROP CONSTRAINT reservation_request_id_fkey;
ALTER TABLE wed.request DROP CONSTRAINT request_tenant_id_fkey;
DROP INDEX wed.reservation_held, wed.reservation_queue;
CREATE INDEX reservation_key ON wed.reservation (tenant_id, resource, key, held, priority DESC, request_id);
CREATE INDEX reservation_beside ON wed.reservation (tenant_id, resource, key) WHERE beside;

-- A key that a job fired just now asks for, before it is known whether it can have all of its keys at once.
CREATE TYPE wed.asking AS (
  request_id bigint,
  nth        integer,  -- of the request's keys
  flow_id    integer,
  tenant_id  integer,
  wid        integer,
  tgid       integer,
  job        tid,      -- the job's row, which its host has leased already
  resource   text,
  key        text,
  amount     numeric,
  holds      text,
  consumes   boolean,
  priority   integer);

-- What a batch is looked through by: most transitions of a constrained flow reserve nothing.
ALTER TABLE wed.flow ADD COLUMN reserving bigint[] NOT NULL DEFAULT '{}', ADD COLUMN holds_longer boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN wed.flow.reserving IS 'The triggers that reserve keys.';
COMMENT ON COLUMN wed.flow.holds_longer IS 'Some of them hold their keys longer than their transition lasts.';
UPDATE wed.flow f SET reserving = c.tgids, holds_longer = c.longer
FROM (SELECT flow_id, array_agg(tgid::bigint ORDER BY tgid) AS tgids, bool_or(holds <> 'transition') AS longer
      FROM wed.trigger_constraint WHERE keys IS NOT NULL GROUP BY flow_id) c WHERE c.flow_id = f.flow_id;
