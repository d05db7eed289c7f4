//! A tenant moves to another installation, by a file or from database to database, at any moment of its work.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;
use wedflow_store::{TenantExport, TenantMove};

use super::Two;
use crate::recovery::checker::violations;
use crate::support::database::{one_lane, sample_component};
use crate::support::flows::PAPER;
use crate::support::program::{Answer, run, wed};
use crate::support::{Database, Session, eventually, on, repository};

/// Runs `wed tenant` over a database.
fn tenant(database: &Database, arguments: &[&str]) -> Answer {
    run(wed(&database.url()).arg("tenant").args(arguments))
}

/// A database with the tenant acme, whose flow `hand` is worked on by hand.
fn acme() -> Arc<Database> {
    let database = Database::new();
    on(database.store.create_tenant("acme", "of the test")).expect("a tenant");
    on(database.store.create_flow("acme", "hand", "")).expect("a flow");
    hand(&database).run(PAPER);
    database
}

/// A session of its flow's role.
fn hand(database: &Arc<Database>) -> Session {
    let url = on(database.store.flow_url("acme", "hand")).expect("its URL");
    Session::on(database, &url)
}

fn state(database: &Database) -> Option<TenantMove> {
    on(database.store.tenant_move("acme")).expect("an answer")
}

/// Reads acme out of one database and into another, as a move does, and stops there.
fn copy(from: &Database, to: &Database) {
    let wanted = TenantExport { with_secrets: true, fenced: true };
    let (sender, receiver) = tokio::sync::mpsc::channel(4);
    let staged = on(to.store.stage_tenant()).expect("staged");
    let (exported, imported) = on(async {
        tokio::join!(
            from.store.export_tenant("acme", wanted, sender),
            to.store.import_tenant(staged, None, receiver, &|_, _, _| None)
        )
    });
    exported.expect("exported");
    imported.expect("imported");
}

/// Asserts that the database itself refuses what would change the tenant, and that hosts leave it alone.
fn assert_is_fenced(from: &Arc<Database>, checksum: &Json) {
    let schema = from.owner().line("SELECT schema_name FROM wed.flow WHERE name = 'hand'");
    for change in [
        format!("INSERT INTO {schema}.wed_flow DEFAULT VALUES"),
        format!("UPDATE {schema}.wed_flow SET a2 = 'x'"),
        format!("INSERT INTO {schema}.wed_attr (aname) VALUES ('more')"),
        "SELECT wed.note('x', 'acme', 'flow.set', 'hand', '{}')".to_owned(),
    ] {
        from.owner().refused(&change).expect("WF024");
    }
    assert_eq!(from.owner().number("SELECT count(*) FROM wed.job WHERE host_id IS NOT NULL"), 0);
    let refused = tenant(from, &["resume", "acme"]).exits(4);
    assert!(refused.err.contains("lives elsewhere"), "{refused:?}");
    assert_eq!(on(from.store.tenant_checksum("acme")).expect("a checksum"), *checksum);
}

#[harness::test]
fn tenant_moves_while_hosts_work_and_its_source_is_fenced() {
    let (from, to) = (acme(), Database::new());
    on(wedflow_worker::upload(&from.store, "acme", "counters", sample_component("counters"))).expect("uploaded");
    let flow = repository("sample-transitions/counters/flow.toml");
    run(wed(&from.url()).args(["--tenant", "acme", "flow", "apply"]).arg(&flow)).done();
    let counters = on(from.store.flow_url("acme", "counters")).expect("its URL");
    Session::on(&from, &counters).run("INSERT INTO wed_flow (a1) SELECT '0' FROM generate_series(1, 40)");
    let wid = hand(&from).start();
    let (here, there) = (from.host(one_lane("here")), to.host(one_lane("there")));
    eventually("work under way", || (from.owner().number("SELECT count(*) FROM wed.trace") > 60).then_some(()));

    let moved = run(wed(&from.url()).args(["--json", "tenant", "move", "acme", "--to", &to.url()])).done().json();
    assert_eq!(moved["checksum"]["instances"]["rows"], 41, "{moved}");
    assert!(moved["pause_ms"].is_u64(), "{moved}");
    assert_eq!(on(from.store.tenant_checksum("acme")).expect("a checksum"), moved["checksum"]);
    eventually("the ends of all that hosts do", || {
        let running = "SELECT count(*) FROM wed.instance i JOIN wed.flow f USING (flow_id) \
                       WHERE i.status <> 'F' AND f.name = 'counters'";
        (to.owner().number(running) == 0).then_some(())
    });
    let mut session = hand(&to);
    session.finish(wid, "tr_a2", "a2 = 'done'");
    session.finish(wid, "tr_a3", "a3 = 'done'");
    session.finish(wid, "tr_final", "a1 = 'done'");
    assert_eq!(violations(&mut to.owner()), Vec::<String>::new());

    assert_is_fenced(&from, &moved["checksum"]);
    // The same command again has nothing left to do; what is left here can be removed.
    tenant(&from, &["move", "acme", "--to", &to.url()]).exits(4);
    tenant(&from, &["delete", "acme", "--yes"]).done();
    on(here.stop());
    on(there.stop());
}

#[harness::test]
fn interrupted_move_goes_on_or_returns() {
    let (from, to) = (acme(), Database::new());
    hand(&from).start();
    let to_url = to.url();
    let again = |extra: &[&str]| {
        let arguments = ["move", "acme", "--to", to_url.as_str()];
        tenant(&from, &[&arguments[..], extra].concat())
    };
    // Fenced, and copied: it returns, and works here.
    on(from.store.fence_tenant("acme")).expect("fenced");
    copy(&from, &to);
    let arrived = state(&to).and_then(|there| there.moving);
    assert_eq!(arrived.as_deref(), Some("arriving"));
    let resumed = tenant(&to, &["resume", "acme"]).exits(4);
    assert!(resumed.err.contains("has not ended"), "{resumed:?}");
    again(&["--back"]).done();
    assert_eq!(state(&to), None);
    hand(&from).start();
    // Resumed while it is copied: nothing begins elsewhere.
    let move_id = on(from.store.fence_tenant("acme")).expect("fenced");
    copy(&from, &to);
    tenant(&from, &["resume", "acme"]).done();
    assert!(!on(from.store.leave("acme", &move_id, "elsewhere")).expect("an answer"));
    on(to.store.forget_arrival("acme", &move_id)).expect("removed");
    // Interrupted after the copy: the same command copies anew, and the tenant works there.
    on(from.store.fence_tenant("acme")).expect("fenced");
    copy(&from, &to);
    again(&[]).done();
    assert_eq!(hand(&to).start(), 3);
    // Switched, and not begun there: it begins.
    let back = Database::new();
    let move_id = on(to.store.fence_tenant("acme")).expect("fenced");
    copy(&to, &back);
    assert!(on(to.store.leave("acme", &move_id, "elsewhere")).expect("switched"));
    tenant(&to, &["move", "acme", "--to", &back.url(), "--back"]).exits(4);
    tenant(&to, &["move", "acme", "--to", &back.url()]).done();
    assert_eq!(hand(&back).start(), 4);
    // It works there: not here as well, unless that database is gone.
    let taken = tenant(&to, &["resume", "acme", "--take-back"]).exits(4);
    assert!(taken.err.contains("works elsewhere"), "{taken:?}");
    tenant(&to, &["resume", "acme", "--take-back", "--lost-there"]).done();
    assert_eq!(violations(&mut back.owner()), Vec::<String>::new());
}

#[harness::test]
fn file_takes_a_tenant_along_with_everything_of_it() {
    let two = Two::new();
    let (from, to) = (two.database(), Database::new());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beta.wedflow");
    let file = path.to_str().expect("a name");
    tenant(from, &["export", "beta", "--to", file, "--snapshot", "--with-secrets"]).done();
    tenant(from, &["export", "beta", "--to", file, "--snapshot"]).exits(3);
    // A copy of what works on elsewhere stays suspended.
    let taken: Json = run(wed(&to.url()).args(["--json", "tenant", "import", file])).done().json();
    assert_eq!(taken["checksum"], on(from.store.tenant_checksum("beta")).expect("a checksum"));
    assert!(on(to.store.tenant("beta")).expect("the tenant").suspended);
    let counts = "SELECT string_agg(t.name || ' ' || (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n \
        FROM wed.%I WHERE %s', t.name, replace(t.is_tenants, '{{tenant}}', b.tenant_id::text)), false, true, '')))[1]::text, \
        ', ' ORDER BY t.name) FROM wed.portable_tables() t, wed.tenant b \
        WHERE b.name = 'beta' AND t.is_tenants IS NOT NULL AND t.name NOT IN ('audit', 'secret')";
    assert_eq!(to.owner().line(counts), from.owner().line(counts));
    tenant(&to, &["resume", "beta"]).done();
    tenant(&to, &["import", file]).exits(4);
    tenant(&to, &["import", file, "--as", "beta-two"]).done();

    // One that is damaged or cut leaves nothing.
    let whole = std::fs::read(&path).expect("the file");
    let broken = folder.path().join("broken");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    for bytes in [&damaged[..], &whole[..middle]] {
        std::fs::write(&broken, bytes).expect("written");
        run(wed(&to.url()).args(["tenant", "import", "--as", "none"]).arg(&broken)).exits(3);
        assert_eq!(to.owner().number("SELECT count(*) FROM wed.tenant WHERE name = 'none'"), 0);
    }
    let missing = Path::new("nowhere");
    run(wed(&to.url()).args(["tenant", "import"]).arg(missing)).exits(3);
}

/// Folder of the files of the instances of acme's flow `hand`.
fn files_of(database: &Arc<Database>, folder: &Path) -> PathBuf {
    let own = "SELECT f.shape_schema FROM wed.flow f JOIN wed.tenant t USING (tenant_id) \
               WHERE f.name = 'hand' AND t.name = 'acme'";
    folder.join(database.owner().line(own))
}

#[harness::test]
fn files_of_instances_go_along_and_are_compared() {
    let (from, to, third) = (acme(), Database::new(), Database::new());
    let wid = hand(&from).start();
    from.owner().run("SELECT wed.grant_transition(flow_id, 'tr_a2', true, '{}') FROM wed.flow WHERE name = 'hand'");
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let [here, there, last] = [0, 1, 2].map(|at| folders[at].path().to_str().expect("a name"));
    let own = files_of(&from, here.as_ref()).join(wid.to_string());
    std::fs::create_dir_all(&own).expect("a folder");
    for (name, content) in [("note", &b"\x00\xffbytes"[..]), ("empty", b"")] {
        std::fs::write(own.join(name), content).expect("written");
    }
    let kept = |database: &Arc<Database>, folder: &str| {
        let instance = files_of(database, folder.as_ref()).join(wid.to_string());
        ["note", "empty"].map(|name| std::fs::read(instance.join(name)).expect("the file"))
    };
    // Without an option for files nothing is fenced.
    let to_url = to.url();
    let refused = tenant(&from, &["move", "acme", "--to", &to_url]).exits(2);
    assert!(refused.err.contains("--without-files"), "{refused:?}");
    assert_eq!(state(&from).and_then(|one| one.moving), None);
    let arguments = ["--json", "tenant", "move", "acme", "--to", &to_url, "--files", here, "--files-to", there];
    let moved = run(wed(&from.url()).args(arguments)).done().json();
    assert_eq!((&moved["files"]["files"], &moved["files"]["bytes"]), (&2.into(), &7.into()), "{moved}");
    assert_eq!(kept(&to, there), kept(&from, here));

    let file = folders[0].path().join("acme.wedflow");
    let file = file.to_str().expect("a name");
    tenant(&to, &["export", "acme", "--to", file, "--snapshot", "--files", there]).done();
    let refused = tenant(&third, &["import", file]).exits(3);
    assert!(refused.err.contains("--without-files"), "{refused:?}");
    assert_eq!(state(&third), None);
    tenant(&third, &["import", file, "--as", "bare", "--without-files"]).done();
    tenant(&third, &["import", file, "--files", last]).done();
    assert_eq!(kept(&third, last), kept(&from, here));
    // What cannot be put where it belongs leaves no tenant.
    tenant(&third, &["delete", "acme", "--yes"]).done();
    tenant(&third, &["import", file, "--files", "/proc"]).exits(1);
    assert_eq!(state(&third), None);
}

#[harness::test]
fn fenced_export_is_the_way_out_and_can_be_taken_back() {
    let from = acme();
    let wid = hand(&from).start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("acme.wedflow");
    let file = path.to_str().expect("a name");
    tenant(&from, &["export", "acme", "--to", file]).done();
    let shown = tenant(&from, &["show", "acme"]).done();
    assert!(shown.out.contains("left to the file"), "{shown:?}");
    let to = Database::new();
    tenant(&to, &["import", file, "--as", "other"]).done();
    let twice = tenant(&to, &["import", file, "--as", "third"]).exits(4);
    assert!(twice.err.contains("taken in already"), "{twice:?}");
    let unpacked = run(std::process::Command::new("tar").arg("-xzOf").arg(&path)).done();
    for password in from.owner().lines("SELECT role_password FROM wed.flow") {
        assert!(!password.is_empty() && !unpacked.out.contains(&password));
    }
    let url = on(to.store.flow_url("other", "hand")).expect("its URL");
    Session::on(&to, &url).finish(wid, "tr_a2", "a2 = 'done'");

    tenant(&from, &["resume", "acme"]).exits(4);
    tenant(&from, &["resume", "acme", "--take-back"]).done();
    hand(&from).finish(wid, "tr_a3", "a3 = 'done'");
}

#[harness::test]
fn each_table_goes_along_or_stays_on_purpose() {
    let database = Database::new();
    let undecided = "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'wed'::regnamespace AND c.relkind IN ('r', 'p') \
                     AND NOT c.relispartition AND c.relname NOT IN (SELECT name FROM wed.portable_tables())";
    assert_eq!(database.owner().lines(undecided), Vec::<String>::new());
}
