//! Names of instances: `Type_001`, the lowest free number among those that are not final.

use super::{applied, workflow};
use crate::support::{Flow, Session};

fn name(owner: &mut Session, flow: &Flow, wid: i64) -> String {
    owner.line(&format!("SELECT coalesce(wed.name_instance({}, {wid}), '-')", flow.id))
}

#[harness::test]
fn lowest_free_number_is_given() {
    let flow = applied(&workflow(&[("A", "")]).replace("WORKFLOW P", "WORKFLOW Manutencao"), "manutencao");
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let wids: Vec<i64> = (0..3).map(|_| s.start()).collect();
    let names: Vec<String> = wids.iter().map(|wid| name(&mut owner, &flow, *wid)).collect();
    assert_eq!(names, ["Manutencao_001", "Manutencao_002", "Manutencao_003"]);
    s.finish(wids[1], "a", "a_state = 'SUCCEEDED'");
    let next = s.start();
    assert_eq!(name(&mut owner, &flow, next), "Manutencao_002");
    let last = s.start();
    assert_eq!(name(&mut owner, &flow, last), "Manutencao_004");
    // The one that is final keeps its name in the record.
    assert_eq!(name(&mut owner, &flow, wids[1]), "Manutencao_002");
}

#[harness::test]
fn one_statement_names_many_instances() {
    let flow = applied(&workflow(&[("A", "")]), "p");
    let (mut s, mut owner) = (flow.session(), flow.database.owner());
    let first = s.start();
    s.run("INSERT INTO wed_flow (a_state) SELECT 'NOT_READY' FROM generate_series(1, 1200)");
    assert_eq!(
        owner.line("SELECT min(number) || ' ' || max(number) || ' ' || count(DISTINCT name) FROM wed.instance_name"),
        "1 1201 1201"
    );
    assert_eq!(name(&mut owner, &flow, 1001), "P_1001");
    s.finish(first, "a", "a_state = 'SUCCEEDED'");
    let next = s.start();
    assert_eq!(name(&mut owner, &flow, next), "P_001");
}

#[harness::test]
fn two_starts_at_once_have_two_names() {
    let flow = applied(&workflow(&[("A", "")]), "p");
    let starts: Vec<_> = (0..8)
        .map(|_| {
            let flow = flow.clone();
            std::thread::spawn(move || {
                let mut session = flow.session();
                // On a busy machine the last one waits for long.
                session.run("SET lock_timeout = '1 min'");
                session.start()
            })
        })
        .collect();
    for start in starts {
        start.join().expect("started");
    }
    assert_eq!(flow.database.owner().line("SELECT count(DISTINCT name) FROM wed.instance_name"), "8");
}

#[harness::test]
fn flows_that_are_no_processes_have_no_names() {
    let flow = Flow::of(crate::support::flows::STEPS);
    let wid = flow.session().start();
    let mut owner = flow.database.owner();
    assert_eq!(name(&mut owner, &flow, wid), "-");
}
