//! Limits on the keys, quantities and stock that a flow's own role may write.

use crate::support::Flow;

const FLOW: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('k', 'jsonb', '{}'), ('t', 'text[]', NULL), ('q', 'numeric', '1'),
  ('f', 'double precision', '1'), ('n', 'integer', '0'), ('done', 'boolean', 'false');
INSERT INTO wed_trig (tgname, trname, cpred, reserves) VALUES
  ('document', 'one', 'n = 1 AND NOT done', 'k'), ('list', 'two', 'n = 2 AND NOT done', 't');
INSERT INTO wed_trig (tgname, trname, cpred, reserves, quantity) VALUES
  ('counted', 'three', 'n = 3 AND NOT done', 't', 'q'), ('float', 'four', 'n = 4 AND NOT done', 't', 'f');
INSERT INTO wed_trig (cpred, cfinal) VALUES ('done', true);";

#[harness::test]
fn keys_and_quantities_that_are_none_are_refused() {
    let flow = Flow::of(FLOW);
    let mut s = flow.session();
    for bad in [
        "n, k) VALUES (1, '{\"M1\": -1}')",
        "n, k) VALUES (1, '{\"M1\": 1e400}')",
        "n, k) VALUES (1, '{\"M1\": \"5\"}')",
        "n, k) VALUES (1, '{\"M1\": {\"a\": 1}}')",
        "n, k) VALUES (1, '{\"\": 1}')",
        "n, k) VALUES (1, '[[1], 2]')",
        "n, k) SELECT 1, to_jsonb(ARRAY(SELECT i FROM generate_series(1, 65) i))",
        "n, k) SELECT 1, to_jsonb(ARRAY(SELECT i FROM generate_series(1, 20000) i))",
        "n, t) SELECT 2, ARRAY(SELECT i::text FROM generate_series(1, 20000) i)",
        "n, t) SELECT 2, ARRAY(SELECT i::text FROM generate_series(1, 1000000) i)",
        "n, t) VALUES (2, ARRAY[repeat('x', 257)])",
        "n, t) VALUES (2, ARRAY[repeat('x', 1000000)])",
        "n, t) VALUES (2, ARRAY['{M1}'])",
        "n, t, q) VALUES (3, '{M1}', 'NaN')",
        "n, t, q) VALUES (3, '{M1}', -1)",
        "n, t, q) VALUES (3, '{M1}', NULL)",
        "n, t, q) VALUES (3, '{M1}', 10 ^ 41)",
        "n, t, f) VALUES (4, '{M1}', 'NaN')",
        "n, t, f) VALUES (4, '{M1}', '-Infinity')",
        "n, t, f) VALUES (4, '{M1}', 1e300)",
    ] {
        let statement = format!("INSERT INTO wed_flow ({bad}");
        let code = s.tried(&statement).map(|refusal| refusal.code);
        assert!(code.is_some(), "{statement}");
        assert_ne!(code.as_deref(), Some("XX000"), "{statement}");
    }
    // These reserve nothing, or what they name.
    for (good, keys) in [
        ("n, k) VALUES (1, 'null')", ""),
        ("n, k) VALUES (1, '[]')", ""),
        ("n, k) VALUES (1, '{\"M1\": 0}')", ""),
        ("n, t) VALUES (2, ARRAY[NULL, NULL, 'a'])", "a"),
        ("n, t) VALUES (2, ARRAY['b', 'b', 'c'])", "b,c"),
        ("n, t) VALUES (2, ARRAY[E'new\\nline', 'ü', ' '])", " ,new\nline,ü"),
        ("n, k) VALUES (1, '12')", "12"),
        ("n, k) VALUES (1, '1.50')", "1.5"),
    ] {
        let wid = s.number(&format!("INSERT INTO wed_flow ({good} RETURNING wid"));
        let held = s.line(&format!(
            "SELECT coalesce(string_agg(key, ',' ORDER BY key COLLATE \"C\"), '') FROM wed_reservation WHERE wid = \
             {wid} AND held"
        ));
        assert_eq!(held, keys, "{good}");
    }
    super::fine(&flow);
}

#[harness::test]
fn stock_that_is_no_number_is_refused() {
    let flow = Flow::of(FLOW);
    let mut s = flow.session();
    s.run("INSERT INTO wed_resource (key, capacity, minimum) VALUES ('M1', 10, NULL)");
    assert_eq!(s.line("SELECT minimum FROM wed_resource"), "0");
    for (bad, code) in [
        ("INSERT INTO wed_resource (key, capacity) VALUES ('a', 'NaN')", "WF061"),
        ("INSERT INTO wed_resource (key, capacity) VALUES ('a', 'Infinity')", "WF061"),
        ("INSERT INTO wed_resource (key, capacity) VALUES ('a', NULL)", "WF061"),
        ("INSERT INTO wed_resource (key, capacity) VALUES ('a', 10 ^ 41)", "WF061"),
        ("INSERT INTO wed_resource (key, capacity, minimum) VALUES ('a', 1, 'NaN')", "WF061"),
        ("INSERT INTO wed_resource (key, capacity, minimum) VALUES ('a', 1, 2)", "WF061"),
        ("INSERT INTO wed_resource (key, capacity) VALUES ('', 1)", "WF060"),
        ("INSERT INTO wed_resource (key, capacity) VALUES (NULL, 1)", "WF060"),
        ("INSERT INTO wed_resource (key, capacity) VALUES (repeat('x', 257), 1)", "WF060"),
        ("INSERT INTO wed_resource (key, capacity) VALUES ('M1', 1)", "23505"),
        ("INSERT INTO wed_resource (resource, key, capacity) VALUES ('#1', 'a', 1)", "WF013"),
        ("UPDATE wed_resource SET held = 3", "WF013"),
        ("UPDATE wed_resource SET key = 'M2'", "WF013"),
        ("UPDATE wed_resource SET capacity = 'NaN'", "WF061"),
    ] {
        s.refused(bad).expect(code);
    }
    s.run("DELETE FROM wed_resource");
    assert_eq!(s.lines("SELECT key FROM wed_resource"), [""; 0]);
}

#[harness::test]
fn flows_role_reaches_reservations_by_its_views_only() {
    let flow = Flow::of(FLOW);
    let mut s = flow.session();
    for (bad, code) in [
        ("SELECT FROM wed.reservation", "42501"),
        ("SELECT wed.grant_keys('{}', '{}')", "42501"),
        ("SELECT wed.do_reservations(1, 0, 0, 0)", "42501"),
        ("UPDATE wed_reservation SET held = true", "55000"),
        ("DELETE FROM wed_reservation", "55000"),
        ("DELETE FROM wed_order", "55000"),
    ] {
        s.refused(bad).expect(code);
    }
    // Neither as the owner of an expression: it cannot name what the gate calls.
    for bad in ["wed.next_number(1, 'n')", "wed_next_number('n')", "current_user", "(SELECT k)"] {
        assert!(
            s.tried(&format!("UPDATE wed_trig SET reserves = $x${bad}$x$ WHERE tgname = 'list'")).is_some(),
            "{bad}"
        );
    }
}
