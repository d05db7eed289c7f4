DROP TABLE IF EXISTS bare_flow, bare_job, bare_trace;
CREATE TABLE bare_flow (
  wid integer PRIMARY KEY, step integer, note text, customer text DEFAULT 'ann', product text DEFAULT 'tea',
  quantity integer DEFAULT 3, price text, paid boolean DEFAULT false, city text DEFAULT 'Paris',
  street text DEFAULT 'Rue X', remark text
) WITH (fillfactor = 70);
CREATE TABLE bare_job (wid integer, tgid integer, payload jsonb, PRIMARY KEY (wid, tgid));
CREATE TABLE bare_trace (wid integer, seq bigserial, state jsonb, tstmp timestamptz DEFAULT now());
INSERT INTO bare_flow (wid, step) SELECT g, 0 FROM generate_series(1, 1000) g;
INSERT INTO bare_job SELECT g, 0, '{}' FROM generate_series(1, 1000) g;
ANALYZE;
