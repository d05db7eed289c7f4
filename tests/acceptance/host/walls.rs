//! Guests in processes of their own: an exploited guest reaches nothing, a killed process loses nothing, and a flow
//! runs as it does in the host's process.

use std::process::{Child, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use wedflow_authoring::{Call, Workbench};
use wedflow_sandbox::{Sandbox, Settings};
use wedflow_worker::{Guests, HostSettings};

use super::outside::{definition_of_one_step, host, one_step, start, start_in, told};
use super::{exploit, flow_of_one, guests};
use crate::support::database::sample_component;
use crate::support::harness::skip;
use crate::support::program::{run, wed};
use crate::support::{Database, Session, eventually, on};

/// Returns whether the kernel gives a guest process its walls. A test that needs them is skipped elsewhere.
fn has_walls() -> bool {
    static READY: OnceLock<Result<(), String>> = OnceLock::new();
    let ready = READY.get_or_init(|| {
        let settings = Settings { concurrent: 4, guests: Guests::Processes { per_tenant: 1 }, ..Settings::fast() };
        let ready = on(async { Sandbox::new(settings)?.ready().await });
        ready.map_err(|error| error.to_string())
    });
    if let Err(reason) = ready {
        skip(reason.clone());
    }
    ready.is_ok()
}

/// Settings of a host whose guest processes have an argument that names it: `memory`, in MiB.
fn walled(settings: HostSettings, memory: u64) -> HostSettings {
    HostSettings {
        guests: Guests::Processes { per_tenant: 1 },
        guest_memory: Some(memory << 20),
        grace: Duration::from_millis(100),
        ..settings
    }
}

/// Guest processes of a host.
fn processes(memory: u64) -> Vec<u32> {
    processes_with(&format!("\"memory_of_all\":{}", memory << 20))
}

/// Guest processes with these words in their settings.
fn processes_with(known: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("processes");
    all.filter_map(|entry| {
        let entry = entry.ok()?;
        let number = entry.file_name().to_str()?.parse().ok()?;
        let arguments = std::fs::read(entry.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&arguments).contains(known).then_some(number)
    })
    .collect()
}

#[harness::test]
fn a_flow_runs_in_guest_processes_as_in_the_host() {
    if !has_walls() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let database = Database::new();
    let files = one_step(&database, "files", "files = true");
    let asking = one_step(&database, "ask-host", "");
    let line = one_step(&database, "log-line", "");
    for memory in [None, Some(1_111)] {
        let settings = host("either", Some(folder.path()), &[]);
        let running = database.host(match memory {
            Some(memory) => walled(settings, memory),
            None => settings,
        });
        let seen = told(&files, &["write a x", "append a y", "read a", "read ../b"]);
        assert!(seen.starts_with("written|appended|xy|FileErrorKind::Name"), "{seen}");
        let wid = start(&asking, &[]);
        assert_eq!(asking.end_of(wid), "E");
        let said = asking
            .session()
            .line(&format!("SELECT message FROM wed_attempt WHERE wid = {wid} ORDER BY attempt DESC LIMIT 1"));
        assert!(said.contains("now=true random=true names="), "{said}");
        assert_eq!(told(&line, &[]), "logged");
        // The tenant's, and a spare one that waits for the next.
        assert_eq!(processes(1_111).len() >= 2, memory.is_some());
        on(running.stop());
    }
    eventually("the end of the processes", || processes(1_111).is_empty().then_some(()));
}

/// A session of a flow of one transition, of a second tenant.
fn of_another_tenant(database: &Arc<Database>, transition: &str) -> Session {
    let (store, victim) = (&database.store, "victim");
    on(store.create_tenant(victim, "")).expect("a tenant");
    let component = guests::hostile();
    on(wedflow_worker::upload(store, victim, "hostile", component)).expect("uploaded");
    on(store.apply(victim, &definition_of_one_step(transition))).expect("applied");
    let url = on(store.flow_url(victim, transition)).expect("its URL");
    Session::on(database, &url)
}

#[harness::test]
fn an_exploited_guest_reaches_nothing_outside_of_its_process() {
    if !has_walls() {
        return;
    }
    static PASSWORD: OnceLock<String> = OnceLock::new();
    PASSWORD.get_or_init(|| exploit::mark("password"));
    let database = Database::new();
    let attacker = flow_of_one(&database, "ask-settings", ", timeout='1 min'");
    let mut session = of_another_tenant(&database, "sleep-forever");
    let running = database.host(walled(host("walled", None, &[]), 1_112));
    start_in(&mut session, &[&exploit::mark("victim")]);
    eventually("the victim's process", || (processes(1_112).len() >= 2).then_some(()));
    let wid = start(&attacker, &[&exploit::mark("own")]);
    assert_eq!(attacker.end_of(wid), "E");
    let said = attacker
        .session()
        .line(&format!("SELECT message FROM wed_attempt WHERE wid = {wid} ORDER BY attempt DESC LIMIT 1"));
    // One of the sockets leads to the host; two are a pair, by which the process hears signals.
    let reached = r#"reached: []; variables: 0; sockets: 3; marks: {\"own\"}"#;
    assert!(said.contains(reached), "{said}");
    on(running.stop());
}

#[harness::test]
fn tenant_that_floods_has_its_number_of_processes() {
    if !has_walls() {
        return;
    }
    let database = Database::new();
    let flooding = flow_of_one(&database, "loop", ", timeout='10 s'");
    let mut session = of_another_tenant(&database, "nap");
    let running = database.host(walled(host("flooded", None, &[]), 1_115));
    for _ in 0..20 {
        start(&flooding, &[]);
    }
    eventually("the flood", || (!processes(1_115).is_empty()).then_some(()));
    let wid = start_in(&mut session, &[]);
    let end =
        eventually("the end of the other's instance", || Some(session.status(wid)).filter(|status| status != "R"));
    assert_eq!(end, "F");
    // One of each tenant, and a spare.
    assert!(processes(1_115).len() <= 3, "{:?}", processes(1_115));
    on(running.stop());
}

#[harness::test]
fn a_guest_that_destroys_its_process_ends_alone() {
    if !has_walls() {
        return;
    }
    let database = Database::new();
    let destroying = flow_of_one(&database, "ask-long", ", timeout='1 min'");
    let sleeping = one_step(&database, "nap", "");
    let running = database.host(walled(host("destroyed", None, &[]), 1_113));
    let wid = start(&destroying, &[]);
    let naps: Vec<i64> = (0..20).map(|_| start(&sleeping, &[])).collect();
    assert_eq!(destroying.end_of(wid), "E");
    let ends = destroying.session().lines(&format!("SELECT message FROM wed_attempt WHERE wid = {wid}"));
    assert!(ends.iter().all(|end| end.contains("the guest process ended")), "{ends:?}");
    for wid in naps {
        assert_eq!(sleeping.end_of(wid), "F");
    }
    let failed = "SELECT count(*) FROM wed_attempt";
    assert_eq!(sleeping.session().number(failed), 0);
    on(running.stop());
}

#[harness::test]
fn a_killed_guest_process_loses_nothing() {
    if !has_walls() {
        return;
    }
    let database = Database::new();
    let sleeping = flow_of_one(&database, "sleep-wid", ", timeout='1 min'");
    let running = database.host(walled(host("killed", None, &[]), 1_114));
    let wid = start(&sleeping, &[]);
    let guest = eventually("a guest", || {
        // The second one is a spare.
        Some(processes(1_114)).filter(|all| all.len() == 2)
    });
    for process in guest {
        let killed = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
        assert!(killed.is_ok());
    }
    assert_eq!(sleeping.end_of(wid), "F");
    let failed = "SELECT count(*) FROM wed_attempt";
    assert_eq!(sleeping.session().number(failed), 0);
    on(running.stop());
}

#[harness::test]
fn calls_of_a_tenant_on_a_workbench_share_its_process() {
    if !has_walls() {
        return;
    }
    let bench = Workbench::with(Guests::Processes { per_tenant: 1 }).expect("a workbench");
    let bench = Arc::new(bench);
    let bytes = sample_component("counters").to_vec();
    let subject = on(bench.load_for("acme", bytes)).expect("loaded");
    let call = Call {
        state: [("a1".to_owned(), "0".into())].into_iter().collect(),
        transition: Some("tr_a1".to_owned()),
        ..Call::default()
    };
    let known = "\"optimise\":false";
    let called = || {
        let called = on(bench.call(&subject, &call)).expect("called");
        (called.answer(), processes_with(known))
    };
    let (first, before) = called();
    for _ in 0..3 {
        let (answer, _) = called();
        assert_eq!(answer, first);
    }
    let (_, after) = called();
    // The tenant's, and a spare one.
    assert!(before.len() >= 2 && before.iter().all(|one| after.contains(one)), "{before:?} {after:?}");
}

/// A host of its own program, whose guests run in processes.
fn program(database: &Database) -> Child {
    wed(&database.url())
        .args(["serve", "--lanes", "1", "--guests", "processes"])
        .stderr(Stdio::null())
        .spawn()
        .expect("wed runs")
}

/// Guest processes that a process has started.
fn children_of(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("processes");
    let numbers = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|number| state_of(*number).is_some_and(|(_, of)| of == parent)).collect()
}

/// State of a process and its parent; none once it is no more.
fn state_of(process: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut words = text.rsplit_once(')')?.1.split_whitespace();
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

#[harness::test]
fn killed_host_leaves_no_guest_process() {
    if !has_walls() {
        return;
    }
    let database = Database::new();
    let computing = flow_of_one(&database, "loop", ", timeout='1 min'");
    start(&computing, &[]);
    let mut host = program(&database);
    let guests = eventually("guest processes", || {
        // The second one is a spare.
        Some(children_of(host.id())).filter(|all| all.len() == 2)
    });
    host.kill().expect("killed");
    host.wait().expect("its end");
    eventually("the end of the processes", || {
        // Nobody may wait for one whose parent is gone.
        let ended = |guest: &u32| state_of(*guest).is_none_or(|(state, _)| state == 'Z');
        guests.iter().all(ended).then_some(())
    });
}

#[harness::test]
fn host_says_where_guest_processes_have_no_walls() {
    let database = Database::new();
    let mut command = wed(&database.url());
    command.args(["serve", "--lanes", "1", "--guests", "processes"]);
    exploit::without_landlock(&mut command);
    let refused = run(&mut command).exits(1);
    assert!(
        refused.err.contains("guests cannot run in processes of their own here")
            && refused.err.contains("Landlock")
            && refused.err.contains("--guests in-process"),
        "{}",
        refused.err
    );
}
