-- What instances held beyond a transition when they became exceptions: they ask for it again before they proceed.
CREATE TABLE wed.lost_reservation (
  flow_id  integer NOT NULL REFERENCES wed.flow ON DELETE CASCADE,
  wid      integer NOT NULL,
  tgid     integer NOT NULL,
  resource text NOT NULL,
  key      text NOT NULL,
  amount   numeric,
  holds    text NOT NULL,
  consumes boolean NOT NULL,
  PRIMARY KEY (flow_id, wid, tgid, resource, key)
);
COMMENT ON COLUMN wed.lost_reservation.tgid IS 'The trigger that reserved it.';
COMMENT ON COLUMN wed.lost_reservation.amount IS 'Null: exclusive.';
REVOKE ALL ON wed.lost_reservation FROM PUBLIC;
