-- Receipts of flows that are gone: wed.remove_residue adds up what it removes.
ALTER TABLE wed.residue ADD COLUMN tenant_id integer, ADD COLUMN flow text;

CREATE TABLE wed.receipt (
  tenant_id           integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  day                 date NOT NULL,
  flow                text NOT NULL,
  transition          text NOT NULL,
  commits             bigint NOT NULL,
  failures            bigint NOT NULL,
  fuel                bigint NOT NULL,
  elapsed_us          bigint NOT NULL,
  memory_max_bytes    bigint NOT NULL,
  memory_byte_seconds bigint NOT NULL,
  written_bytes       bigint NOT NULL,
  PRIMARY KEY (tenant_id, day, flow, transition));
COMMENT ON TABLE wed.receipt IS 'What removed flows used, by day (UTC); a start has the empty transition.';
CREATE INDEX receipt_day ON wed.receipt (day);

-- What each commit and each failed attempt used. An attempt whose failure ended its instance as an exception stands in
-- both tables: its use is taken from the attempt.
CREATE VIEW wed.consumption AS
  SELECT flow_id, wid, tstmp, coalesce(trw, '') AS transition, 1 AS commits, 0 AS failures,
    CASE WHEN trw <> '_ABORT' THEN fuel END AS fuel,
    CASE WHEN trw <> '_ABORT' THEN elapsed_us END AS elapsed_us,
    CASE WHEN trw <> '_ABORT' THEN memory_bytes END AS memory_bytes,
    pg_column_size(state) AS written_bytes
  FROM wed.trace
  UNION ALL
  SELECT flow_id, wid, tstmp, trname, 0, 1, fuel, elapsed_us, memory_bytes, pg_column_size(message)
  FROM wed.attempt;
