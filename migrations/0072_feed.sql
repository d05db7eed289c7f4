-- The feed of a flow's events: its trace in the order of transactions (wed.feed).
CREATE INDEX trace_feed ON wed.trace (flow_id, xid);
