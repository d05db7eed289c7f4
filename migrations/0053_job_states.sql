-- States of jobs by name (wed.state_of, docs/explanation/states.md).
CREATE TYPE wed.job_state AS ENUM ('ready', 'delayed', 'leased', 'blocked', 'awaiting_siblings', 'paused');
