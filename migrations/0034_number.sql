-- A free number that a transaction takes is marked before it is used: what an INSERT skips (ON CONFLICT DO NOTHING)
-- stays free.
ALTER TABLE wed.free_number ADD COLUMN taken xid8;
COMMENT ON COLUMN wed.free_number.taken IS 'The transaction that takes it; one that is over has not used it.';
