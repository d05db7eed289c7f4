//! Declaring, performing and failing.

use std::num::ParseIntError;

use wedflow_guest::Transition;
use wedflow_guest::prelude::*;
use wedflow_guest::testing::{self, Outcome, Postponement, Server};

#[derive(State)]
struct Text {
    a: String,
}

/// Parses `a`
/// as a number.
///
/// This text is shown to nobody.
#[transition(name = "tr_parse", writes = [n: integer, "Other One": "text[]", type: jsonb])]
fn parse(text: Text, job: &Job) -> Result<Change, Failure> {
    match text.a.as_str() {
        "later" => abort!("not now, attempt {}", job.attempt),
        "tomorrow" => abort!(after = Duration::from_secs(86_400); "{}, then", text.a),
        "broken" => fail!("{} is broken", text.a),
        "busy" => retry!("busy"),
        number => Ok(set! { n = number.parse::<i32>()? }),
    }
}

/** A block
comment. */
#[transition]
fn only_the_job(job: &Job) -> Change {
    set! { wid = job.wid, left = job.remaining().as_secs() as i64 }
}

#[transition(condition = "a = 'x'", timeout = "2 min", fuel = 1_000_000, memory = "8 MiB")]
fn clause_alone() -> wedflow_guest::Sql {
    sql!("a = 'x'")
}

#[transition]
fn other_errors(text: Text) -> Result<Change, ParseIntError> {
    text.a.parse::<i32>().map(|n| set! { n = n })
}

// Nothing is exported natively, but the names are checked.
wedflow_guest::export!(parse, only_the_job, clause_alone, other_errors);

#[test]
fn the_attribute_and_the_comment_make_the_declaration() {
    let declaration = testing::describe::<parse>();
    assert_eq!(declaration.transition, "tr_parse");
    assert_eq!(declaration.description, "Parses `a` as a number.");
    let writes: Vec<(String, String)> =
        declaration.writes.expect("a list").into_iter().map(|attribute| (attribute.name, attribute.kind)).collect();
    let expected = [("n", "integer"), ("Other One", "text[]"), ("type", "jsonb")];
    assert_eq!(writes, expected.map(|(name, kind)| (name.to_owned(), kind.to_owned())));

    let declaration = testing::describe::<only_the_job>();
    assert_eq!(declaration.transition, "only_the_job");
    assert_eq!(declaration.description, "A block comment.");
    assert_eq!(declaration.reads, Some(vec![]));
    assert_eq!(declaration.writes, None);
    assert_eq!(declaration.condition, None);
    assert_eq!((declaration.timeout, declaration.fuel), (None, None));

    let declaration = testing::describe::<clause_alone>();
    assert_eq!(declaration.condition.as_deref(), Some("a = 'x'"));
    assert_eq!(declaration.timeout, Some(120_000));
    assert_eq!(declaration.fuel, Some(1_000_000));
    assert_eq!(declaration.memory, Some(8 << 20));
}

#[transition]
fn call_the_shop() -> Result<Change, Failure> {
    let Some(url) = config("shop.url") else {
        fail!("the flow has no setting shop.url");
    };
    let key = secret("shop-key").unwrap_or_default();
    Ok(set! { url = url, key_bytes = key.len() as i32 })
}

#[test]
fn settings_and_secrets_are_asked_for_by_name() {
    let server = Server::new();
    let answer = testing::call::<call_the_shop>().run();
    assert_eq!(answer, Err(Failure::fatal("the flow has no setting shop.url")));
    drop(server);
    let _server = Server::new().config("shop.url", "https://shop.example").secret("shop-key", "0123456789");
    let answer = testing::call::<call_the_shop>().run();
    assert_eq!(answer, Ok(set! { url = "https://shop.example", key_bytes = 10 }));
}

#[test]
fn every_way_to_end_reaches_the_server() {
    let outcome = |a: &str| testing::call::<parse>().with_text("a", a).attempt(2).outcome();
    assert!(matches!(outcome("12"), Outcome::Assignments(list) if list.len() == 1));
    assert_eq!(outcome("later"), Outcome::Abort(Postponement { reason: "not now, attempt 2".into(), after: None }));
    assert_eq!(
        outcome("tomorrow"),
        Outcome::Abort(Postponement { reason: "tomorrow, then".into(), after: Some(86_400_000_000) })
    );
    let failed = |a: &str| match outcome(a) {
        Outcome::Fail(failure) => (failure.message, failure.retry),
        other => panic!("{other:?}"),
    };
    assert_eq!(failed("broken"), ("broken is broken".into(), false));
    assert_eq!(failed("busy"), ("busy".into(), true));
    assert_eq!(failed("x"), ("invalid digit found in string".into(), false));
    assert_eq!(testing::call::<clause_alone>().run(), Ok(set!("a = 'x'")));
    let other = testing::call::<other_errors>().with_text("a", "x").run();
    assert_eq!(other, Err(Failure::fatal("invalid digit found in string")));
}

#[test]
fn the_function_stays_a_function() {
    let answer = parse(Text { a: "7".into() }, &testing::job(parse::NAME));
    assert_eq!(answer, Ok(set! { n = 7 }));
}

#[test]
fn the_stand_in_keeps_time_and_logs() {
    let server = Server::new();
    let start = now();
    let job = testing::job("x");
    sleep(Duration::from_millis(1_500));
    server.advance(Duration::from_secs(10));
    assert_eq!(now().since(start), Duration::from_millis(11_500));
    assert_eq!(job.remaining(), Duration::from_millis(48_500));
    assert_eq!(server.slept(), Duration::from_millis(1_500));
    server.advance(Duration::from_secs(60));
    assert_eq!(job.remaining(), Duration::ZERO);

    let name = "Ada";
    debug!("plain");
    info!("hello {name}, {}", 1);
    warn!("with fields"; name = name, n = 1 + 1);
    error!("both {}", 2; n = 3);
    assert_eq!(
        server.logs(),
        ["debug: plain", "info: hello Ada, 1", "warn: with fields name=Ada n=2", "error: both 2 n=3",]
    );
    let inner = Server::new();
    info!("inner");
    assert_eq!(inner.logs(), ["info: inner"]);
    drop(inner);
    info!("outer again");
    assert_eq!(server.logs().len(), 5);
}

#[test]
fn chance_is_scripted_or_repeatable() {
    let server = Server::new().random([1, 2]);
    assert_eq!((random(), random()), (1, 2));
    let more = random();
    drop(server);
    let server = Server::new();
    assert_eq!(random(), more);
    drop(server);
    let _server = Server::new().seed(1);
    assert_ne!(random(), more);
}

#[test]
fn a_bounded_random_number_is_below_its_bound_and_fair() {
    let _server = Server::new();
    assert_eq!(random_below(0), 0);
    assert_eq!(random_below(1), 0);
    let mut counts = [0_u32; 6];
    for _ in 0..60_000 {
        counts[random_below(6) as usize] += 1;
    }
    assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    // The draws that would favour small numbers are thrown away: 2^64 is 1 more than a multiple of 3.
    let _server = Server::new().random([0, u64::MAX]);
    assert_eq!(random_below(3), 2);
}

#[test]
#[should_panic(expected = "tr_parse does not read attribute `b`")]
fn a_test_that_gives_an_attribute_in_vain_is_wrong() {
    let _ = testing::call::<parse>().with_text("b", "x");
}

/// Counts in a file and tells somebody.
#[transition(writes = [seen: text])]
fn report(text: Text) -> Result<Change, Failure> {
    let count: u32 = files::read_text("count")?.unwrap_or_default().parse()?;
    files::write("count", (count + 1).to_string())?;
    files::append("log", "x")?;
    let answer = http::Request::post("https://api.example.com/")
        .header_secret("authorization", "Bearer ", "key")
        .header("idempotency-key", &http::key())
        .body(text.a)
        .send()?;
    let files = files::all()?.len();
    Ok(set! { seen = format!("{} {} {files}", answer.status, answer.text()) })
}

#[test]
fn files_and_http_are_the_servers() {
    let server = Server::new().file("count", "41").answer(201, "ok");
    let answer = testing::call::<report>().with_text("a", "body").run();
    assert_eq!(answer, Ok(set! { seen = "201 ok 2" }));
    assert_eq!(server.content("count").as_deref(), Some(&b"42"[..]));
    assert_eq!(
        server.requests(),
        [http::Request::post("https://api.example.com/")
            .header_secret("authorization", "Bearer ", "key")
            .header("idempotency-key", "test-1-test")
            .body("body")]
    );
    let refused = testing::call::<report>().with_text("a", "").run();
    assert!(matches!(&refused, Err(failure) if failure.message().contains("no answer to POST")), "{refused:?}");
}
