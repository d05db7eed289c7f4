-- Appends a row to the trace of each instance: its new state, what wrote it, what it fired.
CREATE OR REPLACE FUNCTION wed.append_trace(_passing wed.passing[], _now timestamptz, _writer text, _note text)
  RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO wed.trace (flow_id, wid, seq, status, trw, trf, state, tstmp, tgid, attempt, fuel, elapsed_us,
                         memory_bytes, component_id, from_seq, writer, note)
  SELECT p.flow_id, p.wid, p.seq, p.becomes, p.trw,
         CASE WHEN cardinality(p.fire) = 1 THEN ARRAY[p.next_trname]
              ELSE ARRAY(SELECT t.trname FROM unnest(p.fire) WITH ORDINALITY f(tgid, at)
                         JOIN wed.trigger t ON t.tgid = f.tgid ORDER BY f.at) END
           || CASE WHEN p.excepts THEN ARRAY['_EXCPT'] END,
         p.state, _now, p.tgid, p.attempt, p.fuel, p.elapsed_us, p.memory_bytes, p.component_id, p.from_seq, _writer,
         coalesce(p.forced, _note)
  FROM unnest(_passing) p;
  PERFORM wed.tell_changes(_passing, _now);
END $$;
