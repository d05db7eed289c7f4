-- The row of a job that asks for keys is found by its trigger: only those that must wait are looked for.
ALTER TYPE wed.asking DROP ATTRIBUTE job;
