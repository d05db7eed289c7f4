-- Figures of flows that cost the same whether there are a thousand instances or a million.

-- Exceptions of a flow. A start has status R and writes no entry.
CREATE INDEX instance_exception ON wed.instance (flow_id, wid) WHERE status = 'E';
-- The planner's estimate of a flow's instances by status is what is shown of a large flow.
CREATE STATISTICS wed.instance_status (mcv) ON flow_id, status FROM wed.instance;
ANALYZE wed.instance;
