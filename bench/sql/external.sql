SELECT wid AS w, tgid AS t FROM job_pool WHERE lckid IS NULL LIMIT 1 \gset
BEGIN;
SELECT pg_try_advisory_xact_lock(:w, :t);
UPDATE wed_flow SET step = (step + 1) % 10, note = 'step by hand' WHERE wid = :w;
COMMIT;
