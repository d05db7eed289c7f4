-- A flow's history and status, for its own role.
CREATE OR REPLACE VIEW {{schema}}.wed_trace AS
  SELECT wid, state::jsonb AS state, trf, trw, status, tstmp, seq, tgid, attempt, writer, note, fuel, elapsed_us,
    memory_bytes
  FROM wed.trace WHERE flow_id = {{flow_id}};
CREATE OR REPLACE VIEW {{schema}}.wed_attempt AS
  SELECT wid, tgid, trname, attempt, outcome, message, writer, tstmp, fuel, elapsed_us, memory_bytes
  FROM wed.attempt WHERE flow_id = {{flow_id}};
CREATE OR REPLACE VIEW {{schema}}.wed_instance AS
  SELECT wid, status, started, changed FROM wed.instance WHERE flow_id = {{flow_id}};
GRANT SELECT ON {{schema}}.wed_trace, {{schema}}.wed_attempt, {{schema}}.wed_instance TO {{role}};
