//! Names of attributes and transitions: quoted rightly wherever they go.

use crate::support::Database;
use crate::support::session::Refusal;

#[harness::test]
fn odd_but_allowed_names_work_everywhere() {
    let longest = "x".repeat(63);
    for name in [
        "Total",
        "select",
        "order",
        "user",
        "table",
        "null",
        "größe",
        "Имя",
        "a1b2_c3",
        "seq",
        "status",
        "state",
        "match",
        "row",
        "true",
        "trw",
        "payload",
        longest.as_str(),
    ] {
        let mut s = Database::new().flow("names").session();
        let quoted = format!("\"{name}\"");
        s.execute("INSERT INTO wed_attr (aname, adv) VALUES ($1, 'x')", &[&name])
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        s.run(&format!(
            "INSERT INTO wed_trig (trname, cpred, writes) VALUES ('t', '{quoted} = ''x''', ARRAY['{name}']);
             INSERT INTO wed_trig (cpred, cfinal) VALUES ('{quoted} = ''end''', true)"
        ));
        let wid = s.start();
        s.finish(wid, "t", &format!("{quoted} = 'end'"));
        assert_eq!(
            s.line(&format!("SELECT status, state ->> '{name}' FROM wed_trace WHERE seq = 2")),
            "F|end",
            "{name}"
        );
        s.execute("UPDATE wed_attr SET aname = 'plain' WHERE aname = $1", &[&name])
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        s.execute("UPDATE wed_attr SET aname = $1 WHERE aname = 'plain'", &[&name])
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        s.start();
    }
}

#[harness::test]
fn names_that_are_not_allowed_are_refused_with_the_reason() {
    let mut s = Database::new().flow("names").session();
    let too_long = "é".repeat(32);
    for name in [
        "wid",
        "WID",
        "ctid",
        "xmin",
        "tableoid",
        "",
        " ",
        "1a",
        "_a",
        "a b",
        "a-b",
        "a.b",
        "a\"b",
        "a'b",
        "a;b",
        "a\nb",
        "$1",
        "x; DROP TABLE wed_flow",
        too_long.as_str(),
    ] {
        let error = s.execute("INSERT INTO wed_attr (aname) VALUES ($1)", &[&name]).expect_err(name);
        let refusal = Refusal::of(&error);
        assert_eq!(refusal.code, "WF012", "{name}: {refusal:?}");
        assert!(!refusal.hint.is_empty(), "{name}: {refusal:?}");
    }
    s.run("INSERT INTO wed_attr (aname) VALUES ('a')");
    s.refused("UPDATE wed_attr SET aname = 'wid' WHERE aname = 'a'").expect("WF012");
    s.refused("INSERT INTO wed_attr (aname) VALUES ('a')").expect("23505");
}

#[harness::test]
fn names_that_differ_only_in_case_are_refused() {
    let mut s = Database::new().flow("names").session();
    s.run("INSERT INTO wed_attr (aname) VALUES ('total'), ('other')");
    s.refused("INSERT INTO wed_attr (aname) VALUES ('Total')").expect("WF012");
    s.refused("UPDATE wed_attr SET aname = 'TOTAL' WHERE aname = 'other'").expect("WF012");
    // A name may change its own case.
    s.run("UPDATE wed_attr SET aname = 'Total' WHERE aname = 'total'");
}

#[harness::test]
fn odd_transition_names_work() {
    let mut s = Database::new().flow("names").session();
    s.run("INSERT INTO wed_attr (aname, adv) VALUES ('a', '0')");
    let names = ["send e-mail", "it's", "\"quoted\"", "größe", "Ship", "ship", "select", "a;b", "{x}", "x,y"];
    for name in names {
        s.execute("INSERT INTO wed_trig (trname, cpred) VALUES ($1, 'a = ''0''')", &[&name])
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
    }
    s.start();
    let mut fired: Vec<String> = s.query_one("SELECT trf FROM wed_trace", &[]).expect("the trace").get(0);
    fired.sort();
    let mut names: Vec<String> = names.map(str::to_owned).into();
    names.sort();
    assert_eq!(fired, names);
}
