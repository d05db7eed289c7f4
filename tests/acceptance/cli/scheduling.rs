//! Schedules that cannot work are refused when they are made, and backfills before they start anything.

use serde_json::json;

use super::Cli;

#[harness::test]
fn schedule_that_never_starts_anything_is_refused() {
    let cli = Cli::with_steps();
    let set = |words: &[&str]| {
        let mut all = vec!["flow", "schedule", "set", "steps", "s"];
        all.extend(words);
        cli.fails(4, &all)
    };
    let never = set(&["--cron", "0 0 30 2 *"]);
    assert_eq!(never["code"], "WF044", "{never}");
    assert!(never["message"].as_str().is_some_and(|text| text.contains("0 0 30 2 *")), "{never}");
    let unknown = set(&["--cron", "0 9 * * *", "colour=red"]);
    assert_eq!(unknown["code"], "42703", "{unknown}");
    assert_eq!(unknown["hint"], "It has: n, remark.", "{unknown}");
    let misfit = set(&["--cron", "0 9 * * *", "n=zero"]);
    assert!(
        misfit["message"].as_str().is_some_and(|text| text.contains("attribute \"n\" has type integer")),
        "{misfit}"
    );
    assert_eq!(cli.json(&["flow", "schedule", "list", "steps"]), json!([]));
}

#[harness::test]
fn backfill_is_refused_before_it_starts_anything() {
    let cli = Cli::with_steps();
    cli.run(&["flow", "schedule", "set", "steps", "s", "--cron", "* * * * *"]).done();
    for (from, until, said) in [
        // 14 400 minutes, and 1 000 are allowed.
        ("2026-01-01T00:00:00Z", "2026-01-11T00:00:00Z", "more than 1000 "),
        ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", "not later"),
        ("2026-01-02T00:00:00Z", "2026-01-02T00:00:00Z", "not later"),
        ("yesterday", "2026-01-01T00:00:00Z", "RFC 3339"),
        ("2026-01-01", "2026-01-02T00:00:00Z", "RFC 3339"),
        ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00", "RFC 3339"),
    ] {
        let error = cli.fails(4, &["flow", "schedule", "backfill", "steps", "s", "--from", from, "--until", until]);
        assert_eq!(error["code"], "WF044", "{error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(said)), "{error}");
    }
    // No number was used up.
    let started = cli.json(&["instance", "start", "steps"]);
    assert_eq!(started["wid"], 1, "{started}");
    let filled = cli.json(&[
        "flow",
        "schedule",
        "backfill",
        "steps",
        "s",
        "--from",
        "2026-01-01T00:00:00+02:00",
        "--until",
        "2026-01-01T00:03:00+02:00",
    ]);
    assert_eq!(filled["started"], json!([2, 3, 4]), "{filled}");
}
