-- Worklists: people, their roles, and the work items that they do. A work item is a job whose performer is a person.

CREATE TABLE wed.person (
  person_id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id    integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  name         text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9._@-]{0,62}$'),
  active       boolean NOT NULL DEFAULT false,
  connected_at timestamptz,
  contact_at   timestamptz,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (tenant_id, name)
);
CREATE INDEX person_contact ON wed.person (contact_at) WHERE active;
COMMENT ON COLUMN wed.person.active IS 'Whether the person is connected; only active people are offered work and may claim it.';
COMMENT ON COLUMN wed.person.contact_at IS 'Last sign of life; three missed contacts make the person inactive.';

CREATE TABLE wed.role_of_people (
  role_id    integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id  integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  name       text NOT NULL CHECK (name ~ '^[[:alnum:]][[:alnum:]_-]*$' AND octet_length(name) <= 63),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Office-boy and Office_boy are one role.
CREATE UNIQUE INDEX role_of_people_name ON wed.role_of_people (tenant_id, replace(name, '-', '_'));

CREATE TABLE wed.membership (
  person_id integer NOT NULL REFERENCES wed.person ON DELETE CASCADE,
  role_id   integer NOT NULL REFERENCES wed.role_of_people ON DELETE CASCADE,
  PRIMARY KEY (person_id, role_id)
);
CREATE INDEX membership_role ON wed.membership (role_id);

-- Working hours, by which deadlines may be counted.
CREATE TABLE wed.work_calendar (
  calendar_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id   integer NOT NULL REFERENCES wed.tenant ON DELETE CASCADE,
  name        text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  zone        text NOT NULL DEFAULT 'UTC',
  weekdays    integer[] NOT NULL DEFAULT '{1,2,3,4,5}' CHECK (weekdays <@ '{1,2,3,4,5,6,7}' AND weekdays <> '{}'),
  opens       time NOT NULL DEFAULT '09:00',
  closes      time NOT NULL DEFAULT '17:00',
  holidays    date[] NOT NULL DEFAULT '{}' CHECK (cardinality(holidays) <= 1000),
  CHECK (opens < closes),
  UNIQUE (tenant_id, name)
);
COMMENT ON COLUMN wed.work_calendar.weekdays IS 'ISO days of the week, 1 is Monday.';

CREATE TABLE wed.work_plan (
  flow_id      integer PRIMARY KEY REFERENCES wed.flow ON DELETE CASCADE,
  plan         jsonb NOT NULL CHECK (octet_length(plan::text) <= 1048576),
  creator_role integer REFERENCES wed.role_of_people ON DELETE SET NULL,
  applied_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The plan as the gate's triggers use it: one row for each trigger whose job a person does.
CREATE TABLE wed.work_task (
  tgid            integer PRIMARY KEY REFERENCES wed.trigger ON DELETE CASCADE,
  flow_id         integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  task            text NOT NULL CHECK (octet_length(task) BETWEEN 1 AND 63),
  kind            text NOT NULL CHECK (kind IN ('semi_automatic', 'manual')),
  role_id         integer REFERENCES wed.role_of_people ON DELETE SET NULL,
  priority        integer NOT NULL DEFAULT 0,
  deadline        interval CHECK (deadline > '0'),
  calendar_id     integer REFERENCES wed.work_calendar ON DELETE SET NULL,
  disconnected    boolean NOT NULL DEFAULT false,
  application     text,
  description     text NOT NULL DEFAULT '' CHECK (octet_length(description) <= 8192),
  inputs          text[] NOT NULL DEFAULT '{}',
  outputs         text[],
  state_attribute text,
  users           text[] NOT NULL DEFAULT '{}',
  groups          text[] NOT NULL DEFAULT '{}',
  escalate_after  interval CHECK (escalate_after > '0'),
  escalate_to     text,
  form            jsonb
);
CREATE INDEX work_task_flow ON wed.work_task (flow_id);
COMMENT ON COLUMN wed.work_task.outputs IS 'Attributes that a report may set; null: those that the trigger writes, or any.';
COMMENT ON COLUMN wed.work_task.state_attribute IS 'The attribute that is set to SUCCEEDED or FAILED with the report.';

-- An instance with people's work. Large tables have no reference to the flow: wed.remove_residue empties them.
CREATE TABLE wed.work_instance (
  flow_id        integer NOT NULL,
  wid            integer NOT NULL,
  tenant_id      integer NOT NULL,
  creator        text,
  in_charge      integer REFERENCES wed.person ON DELETE SET NULL,
  policy         smallint NOT NULL DEFAULT 1 CHECK (policy BETWEEN 1 AND 4),
  policy_count   integer NOT NULL DEFAULT 1 CHECK (policy_count BETWEEN 1 AND 1000),
  renotify       interval NOT NULL DEFAULT '10 seconds' CHECK (renotify >= '1 second'),
  warnings       integer[] NOT NULL DEFAULT '{}' CHECK (cardinality(warnings) <= 100),
  transfer       integer CHECK (transfer IS NULL OR transfer = ANY (warnings)),
  PRIMARY KEY (flow_id, wid)
);
COMMENT ON COLUMN wed.work_instance.policy IS
  '1: all people of the role; 2: those with the fewest assigned items; 3: with the fewest selected; 4: connected last.';
COMMENT ON COLUMN wed.work_instance.warnings IS 'Hours before a deadline at which its holder and the person in charge are told.';
COMMENT ON COLUMN wed.work_instance.transfer IS 'The one of the warnings at which the item passes to the person in charge.';

CREATE TABLE wed.work_item (
  item_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id    integer NOT NULL,
  flow_id      integer NOT NULL,
  wid          integer NOT NULL,
  tgid         integer NOT NULL,
  role_id      integer,
  holder       integer,
  claim        integer NOT NULL DEFAULT 0,
  priority     integer NOT NULL DEFAULT 0,
  data_bytes   integer NOT NULL DEFAULT 0,
  policy       smallint NOT NULL DEFAULT 1,
  disconnected boolean NOT NULL,
  candidates   boolean NOT NULL DEFAULT false,
  state        text NOT NULL DEFAULT 'READY' CHECK (state IN
    ('READY', 'SELECTED', 'LOCKED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'WITHDRAWN')),
  task         text NOT NULL,
  arrived_at   timestamptz NOT NULL,
  renotify     interval NOT NULL,
  offered_at   timestamptz NOT NULL,
  held_since   timestamptz,
  deadline_at  timestamptz,
  alarm_at     timestamptz,
  warned       integer[] NOT NULL DEFAULT '{}',
  escalated    boolean NOT NULL DEFAULT false,
  ended_at     timestamptz,
  CHECK ((state IN ('SELECTED', 'LOCKED', 'RUNNING')) = (holder IS NOT NULL AND ended_at IS NULL)),
  CHECK ((state IN ('SUCCEEDED', 'FAILED', 'WITHDRAWN')) = (ended_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX work_item_open ON wed.work_item (flow_id, wid, tgid) WHERE ended_at IS NULL;
CREATE INDEX work_item_instance ON wed.work_item (flow_id, wid);
CREATE INDEX work_item_role ON wed.work_item (role_id, priority DESC, item_id) WHERE state = 'READY' AND policy = 1;
CREATE INDEX work_item_arrival ON wed.work_item (role_id, item_id) WHERE state = 'READY' AND policy = 1;
CREATE INDEX work_item_holder ON wed.work_item (holder) WHERE holder IS NOT NULL AND ended_at IS NULL;
CREATE INDEX work_item_alarm ON wed.work_item (alarm_at) WHERE ended_at IS NULL AND alarm_at IS NOT NULL;
CREATE INDEX work_item_offer ON wed.work_item (offered_at) WHERE state = 'READY' AND (policy <> 1 OR candidates);
COMMENT ON COLUMN wed.work_item.candidates IS 'Whether its task names users or groups beside its role.';
COMMENT ON COLUMN wed.work_item.claim IS 'Number of the present claim; raised whenever the holder changes.';
COMMENT ON COLUMN wed.work_item.offered_at IS 'Last round of offers; the next comes renotify later.';
COMMENT ON COLUMN wed.work_item.alarm_at IS 'When the sweep looks at its deadline or escalation next.';

-- Whom an item is offered to: policies 2 to 4, candidates. Policy 1 offers to a role and needs no rows.
CREATE TABLE wed.work_offer (
  person_id  integer NOT NULL REFERENCES wed.person ON DELETE CASCADE,
  item_id    bigint NOT NULL REFERENCES wed.work_item ON DELETE CASCADE,
  offered_at timestamptz NOT NULL,
  PRIMARY KEY (person_id, item_id)
);
CREATE INDEX work_offer_item ON wed.work_offer (item_id);

-- A person's own order.
CREATE TABLE wed.work_position (
  person_id integer NOT NULL REFERENCES wed.person ON DELETE CASCADE,
  item_id   bigint NOT NULL REFERENCES wed.work_item ON DELETE CASCADE,
  position  double precision NOT NULL,
  PRIMARY KEY (person_id, item_id)
);
CREATE INDEX work_position_item ON wed.work_position (item_id);

CREATE TABLE wed.work_message (
  message_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  person_id    integer NOT NULL REFERENCES wed.person ON DELETE CASCADE,
  kind         text NOT NULL CHECK (kind IN
    ('process_started', 'process_ended', 'task_failed', 'task_deadline', 'task_transferred', 'task_late', 'task_escalated',
     'task_delegated', 'task_withdrawn')),
  sender       text NOT NULL,
  text         text NOT NULL,
  item_id      bigint,
  at           timestamptz NOT NULL,
  delivered_at timestamptz
);
CREATE INDEX work_message_person ON wed.work_message (person_id, message_id);
COMMENT ON COLUMN wed.work_message.delivered_at IS 'Null while the person is inactive: stored until the next connection.';

-- Who did what with an item, when.
CREATE TABLE wed.work_event (
  event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item_id  bigint NOT NULL,
  flow_id  integer NOT NULL,
  wid      integer NOT NULL,
  at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  person   text NOT NULL,
  action   text NOT NULL,
  detail   jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX work_event_item ON wed.work_event (item_id, event_id);
CREATE INDEX work_event_instance ON wed.work_event (flow_id, wid);

-- Reports by their idempotency key: applied ones, and refused ones, which are kept for their sender.
CREATE TABLE wed.work_report (
  person_id   integer NOT NULL REFERENCES wed.person ON DELETE CASCADE,
  key         text NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 255),
  item_id     bigint NOT NULL,
  flow_id     integer NOT NULL,
  wid         integer NOT NULL,
  fingerprint bytea NOT NULL,
  applied     boolean NOT NULL,
  code        text,
  reason      text,
  result      jsonb NOT NULL,
  answer      jsonb NOT NULL,
  at          timestamptz NOT NULL,
  PRIMARY KEY (person_id, key)
);
CREATE INDEX work_report_item ON wed.work_report (item_id);
CREATE INDEX work_report_instance ON wed.work_report (flow_id, wid);

-- Comments and attachments.
CREATE TABLE wed.work_note (
  note_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  item_id   bigint NOT NULL,
  flow_id   integer NOT NULL,
  wid       integer NOT NULL,
  person    text NOT NULL,
  at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  text      text NOT NULL CHECK (octet_length(text) <= 16384),
  file_name text CHECK (octet_length(file_name) BETWEEN 1 AND 255),
  bytes     bytea CHECK (octet_length(bytes) <= 1048576),
  CHECK ((file_name IS NULL) = (bytes IS NULL))
);
CREATE INDEX work_note_instance ON wed.work_note (flow_id, wid, note_id);

-- Whom the next item of a task is for: taken away together with the one before it.
CREATE TABLE wed.work_reservation (
  flow_id   integer NOT NULL,
  wid       integer NOT NULL,
  tgid      integer NOT NULL REFERENCES wed.trigger ON DELETE CASCADE,
  person_id integer NOT NULL REFERENCES wed.person ON DELETE CASCADE,
  PRIMARY KEY (flow_id, wid, tgid)
);

ALTER TABLE wed.instance ADD COLUMN people boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN wed.instance.people IS 'Whether people work at it, who are told of its end.';

REVOKE ALL ON wed.person, wed.role_of_people, wed.membership, wed.work_calendar, wed.work_plan, wed.work_task, wed.work_instance,
  wed.work_item, wed.work_offer, wed.work_position, wed.work_message, wed.work_event, wed.work_report, wed.work_note,
  wed.work_reservation FROM PUBLIC;
