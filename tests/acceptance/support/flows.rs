//! Definitions that several tests use, as a person would paste them into psql.

/// The papers' figure 2, in our words: two transitions side by side, and a third that waits for both.
pub(crate) const PAPER: &str = "
BEGIN;
INSERT INTO wed_attr (aname, adv) VALUES ('a1', 'ready');
INSERT INTO wed_attr (aname) VALUES ('a2'), ('a3');
INSERT INTO wed_trig (tgname, trname, cname, cpred, timeout) VALUES
  ('t1', 'tr_a2', 'c1', $$a1 = 'ready' and (a2 is null)$$, '3d18h'),
  ('t2', 'tr_a3', 'c2', $$a1 = 'ready' and (a3 is null)$$, '00:00:30'),
  ('tf', 'tr_final', 'cf', $$a1 = 'ready' and (a2 is not null) and (a3 is not null)$$, '00:00:10');
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'ready'$$, true);
COMMIT;";

/// Flow with an attribute `n` that one transition `step` raises until it is `3`.
pub(crate) const STEPS: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('n', 'integer', '0');
INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('t', 'step', 'n < 3');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('n >= 3', true);";
