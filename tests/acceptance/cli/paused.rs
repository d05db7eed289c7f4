//! Jobs that wait for something else than time: one form at every door, and the way to mend it.

use serde_json::{Value as Json, json};

use super::Cli;
use crate::support::http::{Api, Client};

/// Due time and reason of the one pending job of `steps`, as each door tells them.
fn doors(cli: &Cli, user: &Client) -> Vec<(Json, String)> {
    let shown = cli.json(&["instance", "show", "steps", "1"]);
    let listed = cli.json(&["job", "list", "steps"]);
    let http = user.get("/v1/flows/steps/jobs").is(200).json();
    let waiting = user.get("/v1/flows/steps/instances/1/waiting").is(200).json();
    let mut session = cli.flow("steps");
    let pool = session.line("SELECT due FROM job_pool");
    let view = session.line("SELECT due, waits_code FROM wed_waiting");
    let (view_due, view_code) = view.split_once('|').expect("two columns");
    let sql = |text: &str| match text {
        "·" => Json::Null,
        text => Json::from(text),
    };
    let told = |job: &Json, key: &str| {
        let reason = job[key].as_str().unwrap_or_default();
        (job["due"].clone(), reason.to_owned())
    };
    vec![
        told(&shown["jobs"][0], "waits_for"),
        told(&listed[0], "waits_for"),
        told(&http["items"][0], "waits_for"),
        told(&waiting["items"][0], "code"),
        (sql(&pool), view_code.to_owned()),
        (sql(view_due), view_code.to_owned()),
    ]
}

#[harness::test]
fn paused_jobs_look_the_same_at_every_door() {
    let cli = Cli::with_steps();
    cli.run(&["instance", "start", "steps"]).done();
    let api = Api::of(&cli.database);
    let user = api.user("default", "ann", "operator");
    for (pause, resume) in [
        (&["tenant", "pause", "default"][..], "wed tenant resume default"),
        (&["flow", "pause", "steps"], "wed flow resume steps"),
        (&["flow", "pause", "steps", "--trigger", "t"], "wed flow resume steps --trigger t"),
        (&["instance", "pause", "steps", "1"], "wed instance resume steps 1"),
    ] {
        cli.run(&[pause, &["--reason", "stocktaking"]].concat()).done();
        for (due, reason) in doors(&cli, &user) {
            assert_eq!((due, reason.as_str()), (Json::Null, "paused"), "{pause:?}");
        }
        let said = cli.flow("steps").line("SELECT waits_for FROM job_pool");
        assert_eq!(said, format!("the end of a pause: `{resume}`"));
        let shown = cli.run(&["instance", "show", "steps", "1"]).done();
        assert!(shown.err.contains(&format!("Take the pause back: `{resume}`.")), "{shown:?}");
        assert!(!format!("{shown:?}").contains("10026"), "{shown:?}");
        // What the hint says takes the pause back.
        let words: Vec<&str> = resume.split(' ').skip(1).collect();
        cli.run(&words).done();
        assert_eq!(cli.json(&["flow", "pauses"]), json!([]), "{pause:?}");
        for (due, reason) in doors(&cli, &user) {
            assert!(due.is_string() && reason != "paused", "{due} {reason}");
        }
    }
}

#[harness::test]
fn exception_says_which_conditions_do_not_hold() {
    let cli = Cli::with_steps();
    let mut session = cli.flow("steps");
    session.run("INSERT INTO wed_trig (tgname, trname, cpred) VALUES ('u', 'other', 'remark = ''x''')");
    cli.run(&["instance", "start", "steps"]).done();
    cli.run(&["instance", "skip", "steps", "1", "-t", "step", "--reason", "not needed"]).done();
    let held = cli.json(&["instance", "show", "steps", "1"]);
    assert_eq!(held["conditions"][0]["holds"], true, "{held}");
    session.run("UPDATE wed_trig SET cpred = 'n > 5' WHERE tgname = 't'");
    let shown = cli.json(&["instance", "show", "steps", "1"]);
    assert!(shown["reason"].as_str().is_some_and(|why| why.contains("not needed")), "{shown}");
    let conditions: Vec<String> = shown["conditions"]
        .as_array()
        .expect("conditions")
        .iter()
        .map(|one| format!("{} {} {}", one["trigger"], one["condition"], one["holds"]))
        .collect();
    assert_eq!(conditions, [r#""t" "n > 5" false"#, r#""u" "remark = 'x'" false"#, r#""final" "n >= 3" false"#,]);
    let people = cli.run(&["instance", "show", "steps", "1"]).done();
    assert!(people.out.contains("satisfies no condition") && people.out.contains("n >= 3"), "{people:?}");
}
