-- What the sweep looks after, tenant by tenant: requests that are not held yet, or held by jobs that are not due yet (leads).
CREATE INDEX request_unsettled ON wed.request (tenant_id, state, ready_at) WHERE state <> 'h' OR leads;
DROP INDEX wed.request_later;
COMMENT ON COLUMN wed.request.leads IS 'Stands for what its statement wrote: one hand-over for all. Of a request that has all: its job is not due yet.';
