//! Guests in processes of their own: an exploited guest reaches nothing, a killed process loses nothing, and a flow runs
//! as it does in the host's process.

use std::sync::OnceLock;
use std::time::Duration;

use wedflow_worker::{Guests, HostSettings};

use super::outside::{definition_of_one_step, host, one_step, start, start_in, told};
use super::{exploit, flow_of_one, guests};
use crate::support::{Database, Session, eventually, on};

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
    let known = format!("\"memory_of_all\":{}", memory << 20);
    let all = std::fs::read_dir("/proc").expect("processes");
    all.filter_map(|entry| {
        let entry = entry.ok()?;
        let number = entry.file_name().to_str()?.parse().ok()?;
        let arguments = std::fs::read(entry.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&arguments)
            .contains(&known)
            .then_some(number)
    })
    .collect()
}

#[harness::test]
fn a_flow_runs_in_guest_processes_as_in_the_host() {
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
        assert_eq!(processes(1_111).len(), 0);
        let seen = told(&files, &["write a x", "append a y", "read a", "read ../b"]);
        assert!(
            seen.starts_with("written|appended|xy|FileErrorKind::Name"),
            "{seen}"
        );
        let wid = start(&asking, &[]);
        assert_eq!(asking.end_of(wid), "E");
        let said = asking.session().line(&format!(
            "SELECT message FROM wed_attempt WHERE wid = {wid} ORDER BY attempt DESC LIMIT 1"
        ));
        assert!(said.contains("now=true random=true names="), "{said}");
        assert_eq!(told(&line, &[]), "logged");
        // A spare one waits for the next tenant.
        assert_eq!(!processes(1_111).is_empty(), memory.is_some());
        on(running.stop());
    }
    eventually("the end of the processes", || {
        processes(1_111).is_empty().then_some(())
    });
}

#[harness::test]
fn an_exploited_guest_reaches_nothing_outside_of_its_process() {
    static PASSWORD: OnceLock<String> = OnceLock::new();
    PASSWORD.get_or_init(|| exploit::mark("password"));
    let database = Database::new();
    let attacker = flow_of_one(&database, "ask-settings", ", timeout='1 min'");
    let (store, victim) = (&database.store, "victim");
    on(store.create_tenant(victim, "")).expect("a tenant");
    on(wedflow_worker::upload(
        store,
        victim,
        "hostile",
        guests::hostile(),
    ))
    .expect("uploaded");
    let definition = definition_of_one_step("sleep-forever");
    on(store.apply(victim, &definition)).expect("applied");
    let url = on(store.flow_url(victim, "sleep-forever")).expect("its URL");
    let mut session = Session::on(&database, &url);
    let running = database.host(walled(host("walled", None, &[]), 1_112));
    start_in(&mut session, &[&exploit::mark("victim")]);
    eventually("the victim's process", || {
        (processes(1_112).len() >= 2).then_some(())
    });
    let wid = start(&attacker, &[&exploit::mark("own")]);
    assert_eq!(attacker.end_of(wid), "E");
    let said = attacker.session().line(&format!(
        "SELECT message FROM wed_attempt WHERE wid = {wid} ORDER BY attempt DESC LIMIT 1"
    ));
    let reached = r#"reached: []; variables: 0; sockets: 1; marks: {\"own\"}"#;
    assert!(said.contains(reached), "{said}");
    on(running.stop());
}

#[harness::test]
fn a_guest_that_destroys_its_process_ends_alone() {
    let database = Database::new();
    let destroying = flow_of_one(&database, "ask-long", ", timeout='1 min'");
    let sleeping = one_step(&database, "nap", "");
    let running = database.host(walled(host("destroyed", None, &[]), 1_113));
    let wid = start(&destroying, &[]);
    let naps: Vec<i64> = (0..20).map(|_| start(&sleeping, &[])).collect();
    assert_eq!(destroying.end_of(wid), "E");
    let ends = destroying.session().lines(&format!(
        "SELECT message FROM wed_attempt WHERE wid = {wid}"
    ));
    assert!(
        ends.iter()
            .all(|end| end.contains("the guest process ended")),
        "{ends:?}"
    );
    for wid in naps {
        assert_eq!(sleeping.end_of(wid), "F");
    }
    let failed = "SELECT count(*) FROM wed_attempt";
    assert_eq!(sleeping.session().number(failed), 0);
    on(running.stop());
}

#[harness::test]
fn a_killed_guest_process_loses_nothing() {
    let database = Database::new();
    let sleeping = flow_of_one(&database, "sleep-wid", ", timeout='1 min'");
    let running = database.host(walled(host("killed", None, &[]), 1_114));
    let wid = start(&sleeping, &[]);
    let guest = eventually("a guest", || {
        // The second one is a spare.
        Some(processes(1_114)).filter(|all| all.len() == 2)
    });
    for process in guest {
        let killed = std::process::Command::new("kill")
            .args(["-9", &process.to_string()])
            .status();
        assert!(killed.is_ok());
    }
    assert_eq!(sleeping.end_of(wid), "F");
    let failed = "SELECT count(*) FROM wed_attempt";
    assert_eq!(sleeping.session().number(failed), 0);
    on(running.stop());
}
