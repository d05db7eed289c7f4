//! Logs: a line in our words for each event, with what to do or what becomes of it; nothing of a tenant's in the
//! server's.

use std::path::{Path, PathBuf};

use crate::support::database::TENANT;
use crate::support::{Database, Session, eventually, on, repository};

/// Every file of Rust below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The calls of a macro in a source file, each up to the end of its statement, without what is tested.
fn calls<'a>(source: &'a str, name: &str) -> Vec<&'a str> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut rest = code;
    while let Some((_, after)) = rest.split_once(name) {
        let mut depth = 1;
        let end = after.find(|letter| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            depth == 0
        });
        let (call, behind) = after.split_at(end.unwrap_or(after.len()));
        found.push(call);
        rest = behind;
    }
    found
}

#[harness::test]
fn each_warning_says_what_to_do_or_what_becomes_of_it() {
    let mut seen = 0;
    for folder in std::fs::read_dir(repository("host")).expect("the crates") {
        for file in sources(&folder.expect("a crate").path().join("src")) {
            let source = std::fs::read_to_string(&file).expect("a source");
            for name in ["tracing::warn!(", "tracing::error!("] {
                for call in calls(&source, name) {
                    seen += 1;
                    assert!(call.contains("; "), "{}: {call}", file.display());
                }
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

#[harness::test]
fn a_tenants_state_is_not_in_the_servers_log() {
    // Of somebody's own server the settings are that person's.
    if crate::support::server::given().is_some() {
        return;
    }
    let database = Database::new();
    let canary = "canary-state-5b1e77c0";
    let flow = database.flow("logged");
    flow.session().run(
        "INSERT INTO wed_attr (aname) VALUES ('note');
         INSERT INTO wed_trig (trname, cpred) VALUES ('step', $$note = 'go'$$)",
    );
    let start = format!("INSERT INTO wed_flow (note) VALUES ('{canary}')");
    let refusal = flow.session().refused(&start);
    assert_eq!(refusal.code, "WF001");
    let values = serde_json::json!({ "note": canary });
    let known = on(database.store.flow(TENANT, "logged")).expect("the flow");
    on(database.store.start_instance(&known, values.as_object().expect("an object")))
        .expect_err("satisfies no condition");
    let mut owner = database.owner();
    // The log is written in order.
    owner.run("DO $$ BEGIN RAISE LOG 'behind-5b1e77c0'; END $$");
    let log =
        eventually("the end of the log", || Some(server_log(&mut owner)).filter(|log| log.contains("behind-5b1e77c0")));
    assert!(log.contains("satisfies no condition"), "{log}");
    assert!(!log.contains(canary), "{log}");
}

/// The server's present log.
fn server_log(owner: &mut Session) -> String {
    owner.lines("SELECT pg_read_file(pg_current_logfile())").join("\n")
}
