-- Tasks that are taken away together are done in the order in which they were reserved.
ALTER TABLE wed.work_reservation ADD COLUMN place bigint GENERATED ALWAYS AS IDENTITY;
