//! Components with one fault each: every one comes to its named end, and another tenant's work continues.

pub(crate) mod fault;
mod neighbours;

use std::sync::Arc;
use std::time::{Duration, Instant};

use wedflow_model::{Limits, Wid};
use wedflow_sandbox::{Sandbox, Settings};
use wedflow_worker::{Host, HostSettings};

use crate::host::guests;
use crate::support::database::one_lane;
use crate::support::{Database, Flow, Session, eventually, on};

/// The time of one attempt at a fault.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The attributes of a flow that fits all guests here.
const ATTRIBUTES: &str = "
INSERT INTO wed_attr (aname, atype, adv) VALUES ('a1', 'text', 'new'), ('n', 'integer', '0');
INSERT INTO wed_attr (aname, atype) VALUES ('tags', 'text[]');";

/// Faults in text: the guest, how its attempt ends (where two limits are about as near, by one of them), and
/// what its message says.
const FAULTS: [(&str, &str, &str); 14] = [
    ("bulk-fill", "out_of_fuel|timed_out", ""),
    ("bulk-copy", "out_of_fuel|timed_out", ""),
    ("bulk-table", "out_of_fuel|timed_out", ""),
    ("table-bomb", "over_memory", "100000"),
    ("drop-trap", "trapped", "unreachable"),
    ("drop-loop", "timed_out", "timeout"),
    ("handles", "over_memory", "1000"),
    ("deadlock", "timed_out", "timeout"),
    ("sockets", "trapped", "wasi:sockets/tcp-create-socket@0.2.0#create-tcp-socket"),
    ("foreign-files", "trapped", ""),
    ("realloc-loop", "timed_out", "timeout"),
    ("random-flood", "timed_out", "timeout"),
    ("panic-flood", "host_call_limit", ""),
    ("no-memory", "trapped", "memory"),
];

/// Faults of the guest `hostile`.
const TRANSITIONS: [(&str, &str); 12] = [
    ("loop", "timed_out"),
    ("recursion", "trapped"),
    ("shadow-stack", "trapped"),
    ("memory-bomb", "over_memory"),
    ("host-flood", "host_call_limit"),
    ("log-huge", "output_too_large"),
    ("string-huge", "over_memory"),
    ("list-bomb", "output_too_large"),
    ("invalid-utf8", "trapped"),
    ("sleep-forever", "timed_out"),
    ("naps", "timed_out"),
    ("trap", "trapped"),
];

/// A tenant's flow of one transition, bound.
pub(super) fn flow(
    database: &Arc<Database>,
    tenant: &str,
    (component, bytes): (&str, &[u8]),
    transition: &str,
) -> Flow {
    on(wedflow_worker::upload(&database.store, tenant, component, bytes)).expect("uploaded");
    let name = format!("of-{transition}-{component}");
    let id = on(database.store.create_flow(tenant, &name, "")).expect("a flow");
    let flow = Flow {
        url: on(database.store.flow_url(tenant, &name)).expect("its URL"),
        database: Arc::clone(database),
        name,
        id,
    };
    flow.session().run(&format!(
        "BEGIN; {ATTRIBUTES}
         INSERT INTO wed_trig (tgname, trname, cpred, timeout, attempts)
         VALUES ('t', '{transition}', $$a1 = 'new'$$, '{} ms', 1);
         INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a1 <> 'new'$$, true); COMMIT",
        TIMEOUT.as_millis()
    ));
    flow.bind(transition, component);
    flow
}

/// Runs an instance to its end: status, outcome of its last failed attempt, message, seconds it took.
fn end(flow: &Flow) -> (String, String, String, f64) {
    let mut session = flow.session();
    let wid = session.start();
    let status = flow.end_of(wid);
    let told =
        session.lines(&format!("SELECT outcome FROM wed_attempt WHERE wid = {wid} ORDER BY attempt DESC LIMIT 1"));
    let message =
        session.lines(&format!("SELECT message FROM wed_attempt WHERE wid = {wid} ORDER BY attempt DESC LIMIT 1"));
    let elapsed =
        session.lines(&format!("SELECT elapsed_us FROM wed_attempt WHERE wid = {wid} ORDER BY attempt DESC LIMIT 1"));
    (status, told.concat(), message.concat(), elapsed.concat().parse::<f64>().unwrap_or(0.0) / 1e6)
}

#[harness::test]
fn every_fault_has_its_named_end_and_the_neighbour_works_on() {
    let database = Database::new();
    on(database.store.create_tenant("quiet", "")).expect("a tenant");
    let hostile = guests::hostile();
    let quiet = flow(&database, "quiet", ("hostile", hostile), "clause");
    let host: Host = database.host(one_lane("besieged"));
    let id = host.id();
    let faults = FAULTS.iter().map(|(name, outcome, says)| {
        let flow = flow(&database, "default", (name, &fault::component(name)), "fault");
        (*name, flow, *outcome, *says)
    });
    let transitions = TRANSITIONS.iter().map(|(name, outcome)| {
        let flow = flow(&database, "default", ("hostile", hostile), name);
        (*name, flow, *outcome, "")
    });
    let mut wrong = Vec::new();
    for (name, flow, outcome, says) in faults.chain(transitions) {
        if !outcome.contains("timed_out") {
            // It comes to its own end on a loaded machine too.
            let longer = "UPDATE wed_trig SET timeout = '10 s' WHERE tgname = 't'";
            flow.session().run(longer);
        }
        let (status, told, message, seconds) = end(&flow);
        println!(
            "{name}: {told} after {seconds:.3} s, {:.2} of its timeout: {message}",
            seconds / TIMEOUT.as_secs_f64()
        );
        // A trap says of which kind it is.
        let kind = told.split(':').next().unwrap_or_default();
        let named = outcome.split('|').any(|outcome| outcome == kind);
        if status != "E" || !named || !message.contains(says) {
            wrong.push(format!("{name}: {status} {told}, not {outcome} with \"{says}\": {message}"));
        }
        // Ten times what is promised: a loaded machine is no failure, a guest that escapes is.
        assert!(seconds < TIMEOUT.as_secs_f64() * 12.0, "{name} took {seconds} s");
        let (status, told, message, _) = end(&quiet);
        assert_eq!(status, "F", "after {name}: {told} {message}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(host.id(), id, "the host has lost its leases");
    on(host.stop());
}

#[harness::test]
fn what_faults_goes_with_pauses_beside_others() {
    let database = Database::new();
    on(database.store.create_tenant("quiet", "")).expect("a tenant");
    let hostile = guests::hostile();
    // Traps unless n is 0.
    let moody = flow(&database, "default", ("hostile", hostile), "moody");
    let quiet = flow(&database, "quiet", ("hostile", hostile), "sleep-forever");
    let host = database.host(HostSettings { grace: Duration::ZERO, ..one_lane("divided") });
    let mut session = moody.session();
    let start = |session: &mut Session, n: i32, count: i32| {
        session.run(&format!("INSERT INTO wed_flow (n) SELECT {n} FROM generate_series(1, {count})"));
    };
    let ended = |session: &mut Session, status: &str, count: i64| {
        let query = format!("SELECT count(*) FROM wed_instance WHERE status = '{status}'");
        eventually("the end of all", || (session.number(&query) == count).then_some(()));
    };
    // Nobody else is at work: its faults isolate it, and cost no pauses.
    start(&mut session, 1, 3);
    ended(&mut session, "E", 3);
    // The quiet tenant has an attempt under way all the time.
    let mut other = quiet.session();
    other.run("UPDATE wed_trig SET timeout = '60 s' WHERE tgname = 't'");
    other.start();
    eventually("the quiet tenant's attempt", || {
        (other.number("SELECT count(*) FROM job_pool WHERE lckid IS NOT NULL") == 1).then_some(())
    });
    let begun = Instant::now();
    start(&mut session, 1, 20);
    ended(&mut session, "E", 23);
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(19 * 25), "{took:?}");
    // Those that work are done among them.
    start(&mut session, 1, 10);
    start(&mut session, 0, 10);
    ended(&mut session, "E", 33);
    ended(&mut session, "F", 10);
    on(host.stop());
}

#[harness::test]
fn what_fails_before_it_is_called_is_refused_at_upload() {
    let database = Database::new();
    for (name, says) in
        [("start-trap", "`describe` trapped"), ("start-loop", "`describe` "), ("atomic-wait", "threads")]
    {
        let begun = Instant::now();
        let refused =
            on(wedflow_worker::upload(&database.store, "default", name, &fault::component(name))).expect_err("refused");
        println!("{name}: {refused} after {:?}", begun.elapsed());
        assert!(refused.to_string().contains(says), "{name}: {refused}");
    }
}

#[harness::test]
fn a_large_fill_ends_soon_enough() {
    let fills = fault::component_of(
        r#"(func (export "run") (type $run)
             (drop (memory.grow $memory (i32.const 1020)))
             (memory.fill (i32.const 131072) (i32.const 7) (i32.const 66846720))
             (memory.fill (i32.const 131072) (i32.const 8) (i32.const 66846720))
             (i32.const 3200))"#,
    );
    let sandbox = Sandbox::new(Settings { concurrent: 4, ..Settings::fast() }).expect("a sandbox");
    let component = sandbox.compile(&fills, &Limits::default()).expect("accepted");
    let attributes = [("a1".to_owned(), "text".parse().expect("a type"))];
    for round in 0..3 {
        let attempt = on(async {
            let manifest = sandbox.describe(&component).await.expect("described");
            let bound = component.bind(&manifest.transitions[0], &attributes).expect("fits");
            let invocation = wedflow_sandbox::Invocation {
                flow: "f",
                wid: Wid::new(1),
                trigger: "t",
                attempt: 1,
                deadline: 0,
                payload: "{}",
                key: "",
            };
            sandbox.run(&bound, invocation, Duration::from_secs(60), &Limits::default()).await
        });
        // Two, of which the first also touches fresh memory.
        println!(
            "round {round}: filling 64 MiB twice, between two looks at the time: {} us",
            attempt.measure.elapsed_us
        );
        assert_eq!(attempt.outcome.name(), "returned", "{:?}", attempt.outcome);
    }
}
