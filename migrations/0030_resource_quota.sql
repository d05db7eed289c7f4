-- How many keys with a stock and how many orders of tasks a tenant keeps.
ALTER TABLE wed.quota
  ADD COLUMN resources bigint CHECK (resources >= 0),
  ADD COLUMN orders    bigint CHECK (orders >= 0);
COMMENT ON COLUMN wed.quota.resources IS 'keys whose stock is kept (wed_resource)';
COMMENT ON COLUMN wed.quota.orders IS 'orders of tasks added while running (wed_order)';
-- A new tenant's; those that there are go on without.
ALTER TABLE wed.quota
  ALTER COLUMN resources SET DEFAULT 100000,
  ALTER COLUMN orders SET DEFAULT 100000;
ALTER TABLE wed.usage ADD COLUMN orders bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN wed.usage.orders IS 'Counted with what is weighed; hosts'' commits are held against it.';

-- Numbers that all tenants share begin again when they are used up (wed.next_tgid).
ALTER SEQUENCE wed.tgid_seq CYCLE;
ALTER TABLE wed.precedence ALTER COLUMN precedence_id SET CYCLE;
