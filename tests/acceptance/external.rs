//! Workers of three kinds on one flow: Python, psql, a host.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator;
use serde_json::{Value as Json, json};

use crate::support::database::{one_lane, sample_component};
use crate::support::flows::STEPS;
use crate::support::program::psql;
use crate::support::{Database, Flow, GENEROUS, Session, eventually, on, repository};

/// The papers' flow, as a client of ours sends it.
const EXAMPLE: &str = "
INSERT INTO wed_attr (aname, adv) VALUES ('a1', 'ready'), ('a2', NULL), ('a3', NULL);
INSERT INTO wed_trig (tgname, trname, cname, timeout, cpred) VALUES
  ('t1', 'tr_a2', 'c1', '3 days 18 hours', $$a1 = 'ready' AND a2 IS NULL$$),
  ('t2', 'tr_a3', 'c2', '30 s', $$a1 = 'ready' AND a3 IS NULL$$),
  ('tf', 'tr_final', 'cf', '10 s', $$a1 = 'ready' AND a2 IS NOT NULL AND a3 IS NOT NULL$$);
INSERT INTO wed_trig (cname, cpred, cfinal) VALUES ('end', $$a1 <> 'ready'$$, true);";

/// A transition that says which job it has, and finishes it on demand.
const TOLD: &str = "
class Told(Worker):
    def wed_trans(self, payload):
        print(self.job[0], flush=True)
        # A signal that comes right before a read does not end it.
        while not select.select([sys.stdin], [], [], 0.1)[0]:
            if self.stopping:
                raise KeyboardInterrupt
        sys.stdin.readline()
        return 'n = 3'
told = Told(url, transition, 0.2)
told.stop_on_signals()
told.run(1)";

/// The interpreter that has psycopg.
fn python() -> Command {
    let python = repository(".venv/bin/python");
    assert!(python.exists(), "{} is missing; `make setup-test` makes it", python.display());
    let mut command = Command::new(python);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn folder() -> PathBuf {
    repository("examples/python-worker")
}

/// A Python process, killed with the value.
struct Worker {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Worker {
    /// The worker as its command line offers it.
    fn setting(flow: &Flow, transition: &str, clause: &str, more: &[&str]) -> Self {
        let mut command = python();
        command
            .arg(folder().join("worker.py"))
            .args(["--url", &flow.url, "--transition", transition, "--set", clause])
            .args(more);
        Worker::spawn(&mut command)
    }

    /// A program that uses the class; `url` and `transition` are set.
    fn program(flow: &Flow, transition: &str, text: &str) -> Self {
        let whole = format!("import select, sys\nfrom worker import Worker\n_, url, transition = sys.argv\n{text}");
        let mut command = python();
        command.args(["-c", &whole, &flow.url, transition]).env("PYTHONPATH", folder());
        Worker::spawn(&mut command)
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("python starts");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Worker { child, input, lines }
    }

    /// The next line it prints.
    #[track_caller]
    fn line(&mut self) -> String {
        match self.lines.recv_timeout(GENEROUS) {
            Ok(line) => line,
            Err(error) => panic!("python said nothing ({error}): {}", self.complaints()),
        }
    }

    /// Lets it continue.
    fn tell(&mut self) {
        self.input.write_all(b"\n").expect("it listens");
    }

    /// Waits until it ends by itself, and well; what it said on standard error.
    #[track_caller]
    fn end(mut self) -> String {
        let status = eventually("the end of python", || self.child.try_wait().expect("a status"));
        let said = self.complaints();
        assert!(status.success(), "{status}: {said}");
        said
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let done = Command::new("kill").args(["-s", name, &id]).status();
        assert!(done.is_ok_and(|status| status.success()), "kill -s {name} {id}");
    }

    /// Everything on standard error; ends it first.
    fn complaints(&mut self) -> String {
        let _ = self.child.kill();
        let mut text = String::new();
        if let Some(mut stream) = self.child.stderr.take() {
            let _ = stream.read_to_string(&mut text);
        }
        text
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The example in a database of its own, with some of its transitions left to the sample's component.
fn example(hosted: &[&str]) -> Flow {
    let database = Database::new();
    database.upload("paper", sample_component("paper"));
    let flow = database.flow("example");
    flow.session().run(EXAMPLE);
    for transition in hosted {
        flow.bind(transition, "paper");
    }
    flow
}

fn all_final(s: &mut Session, instances: i64) {
    eventually("the end of all instances", || {
        (s.number("SELECT count(*) FROM wed_instance WHERE status = 'F'") == instances).then_some(())
    });
}

/// Lists the transitions of instances that did not write exactly once.
fn not_once(s: &mut Session) -> Vec<String> {
    s.lines(
        "SELECT i.wid, t.trname, (SELECT count(*) FROM wed_trace r WHERE r.wid = i.wid AND r.trw = t.trname)
         FROM wed_instance i CROSS JOIN wed_trig t WHERE NOT t.cfinal
         AND (SELECT count(*) FROM wed_trace r WHERE r.wid = i.wid AND r.trw = t.trname) <> 1",
    )
}

#[harness::test]
fn python_psql_and_a_host_share_a_flow() {
    let flow = example(&["tr_final"]);
    let python = Worker::setting(&flow, "tr_a2", "a2='done'", &["--once", "20", "--wakeup", "1"]);
    let host = flow.database.host(one_lane("example"));
    let mut s = flow.session();
    let wids: Vec<i64> = (0..20).map(|_| s.start()).collect();
    eventually("psql finds nothing more to do", || {
        let jobs = s.lines(
            "SELECT format('SELECT pg_try_advisory_xact_lock(%s, %s) AS granted', wid, tgid), wid
             FROM job_pool WHERE trname = 'tr_a3'",
        );
        let script: String = jobs
            .iter()
            .filter_map(|job| job.split_once('|'))
            .map(|(lock, wid)| {
                format!(
                    "BEGIN;\n{lock} \\gset\n\\if :granted\nUPDATE wed_flow SET a3 = 'done' WHERE wid = \
                     {wid};\n\\endif\nCOMMIT;\n"
                )
            })
            .collect();
        psql(&flow.url, &script).done();
        jobs.is_empty().then_some(())
    });
    let said = python.end();
    assert!(said.contains("performed 20 transitions"), "{said}");
    all_final(&mut s, 20);
    on(host.stop());

    assert_eq!(not_once(&mut s), Vec::<String>::new());
    for wid in wids {
        let trace = s.trace(wid);
        let (first, second) = if trace[1].starts_with("tr_a2") { ("tr_a2", "tr_a3") } else { ("tr_a3", "tr_a2") };
        let expected = [
            "-> {tr_a2,tr_a3} R".to_owned(),
            format!("{first} -> {{}} R"),
            format!("{second} -> {{tr_final}} R"),
            "tr_final -> {} F".to_owned(),
        ];
        assert_eq!(trace, expected);
    }
    let writers = s.lines(
        "SELECT DISTINCT trw, CASE WHEN writer = current_user THEN 'us' ELSE split_part(writer, ':', 1) END
         FROM wed_trace WHERE trw IS NOT NULL ORDER BY 1",
    );
    assert_eq!(writers, ["tr_a2|us", "tr_a3|us", "tr_final|host"]);
    assert_eq!(s.lines("SELECT DISTINCT a1, a2, a3 FROM wed_flow"), ["done|done|done"]);
    assert_eq!(s.number("SELECT count(*) FROM wed_attempt"), 0);
    assert_eq!(s.number("SELECT count(*) FROM job_pool"), 0);
}

#[harness::test]
fn a_notification_holds_numbers_only() {
    let flow = Flow::of(EXAMPLE);
    let mut listener = flow.session();
    listener.run("LISTEN tr_a2");
    let mut s = flow.session();
    let tgid = s.number("SELECT tgid FROM wed_trig WHERE trname = 'tr_a2'");
    let odd = r#"it's "odd" \ $$ %s {0} '; DROP TABLE wed_flow; --"#.to_owned();
    for state in [odd, "x".repeat(20_000), "'".repeat(9_000)] {
        let row = s.query_one("INSERT INTO wed_flow (a3) VALUES ($1) RETURNING wid", &[&state]).expect("started");
        let wid: i32 = row.get(0);
        let heard = listener.notifications().timeout_iter(GENEROUS).next().expect("connected").expect("a notification");
        assert_eq!(heard.channel(), "tr_a2");
        let message: Json = serde_json::from_str(heard.payload()).expect("JSON");
        assert_eq!(message, json!({ "wid": wid, "tgid": tgid }));
        // The state itself is where the message points to.
        let payload: Json = s
            .query_one("SELECT payload FROM job_pool WHERE wid = $1 AND trname = 'tr_a2'", &[&wid])
            .expect("the job")
            .get(0);
        assert_eq!(payload["a3"], Json::from(state));
    }
    let more = listener.notifications().timeout_iter(Duration::from_millis(50)).next().expect("connected");
    assert!(more.is_none(), "{more:?}");
    // A worker does them like any other.
    Worker::setting(&flow, "tr_a2", "a2 = 'it''s 100% done'", &["--once", "3"]).end();
    assert_eq!(s.lines("SELECT DISTINCT a2 FROM wed_flow"), ["it's 100% done"]);
}

#[harness::test]
fn python_and_a_host_on_one_transition_never_do_a_job_twice() {
    let flow = example(&["tr_a2", "tr_a3", "tr_final"]);
    let mut s = flow.session();
    s.run("INSERT INTO wed_flow (a1) SELECT 'ready' FROM generate_series(1, 150)");
    // It also says what it has run, so that a job run in vain would be seen.
    let mut python = Worker::program(
        &flow,
        "tr_a2",
        "
class Said(Worker):
    def wed_trans(self, payload):
        print(self.job[0], flush=True)
        return \"a2 = 'python'\"
Said(url, transition, 0.05).run()",
    );
    // Python is at it before the host comes in.
    let first = python.line();
    let host = flow.database.host(one_lane("example"));
    // The host has instances that Python may come too late for.
    all_final(&mut s, 150);
    on(host.stop());
    python.signal("TERM");
    let mut ran = vec![first];
    while let Ok(line) = python.lines.recv_timeout(GENEROUS) {
        ran.push(line);
    }
    assert_eq!(not_once(&mut s), Vec::<String>::new());
    let by_python: BTreeSet<String> =
        s.lines("SELECT wid FROM wed_trace WHERE trw = 'tr_a2' AND writer = current_user").into_iter().collect();
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    for wid in ran {
        *times.entry(wid).or_default() += 1;
    }
    let ran: BTreeSet<String> = times.keys().cloned().collect();
    assert_eq!(ran, by_python, "what Python ran is what it wrote");
    assert!(times.values().all(|times| *times == 1), "{times:?}");
    let wrong = s.lines(
        "SELECT r.wid, r.writer, f.a2 FROM wed_trace r JOIN wed_flow f USING (wid)
         WHERE r.trw = 'tr_a2' AND f.a2 <> CASE WHEN r.writer = current_user THEN 'python' ELSE 'done' END",
    );
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(s.number("SELECT count(*) FROM wed_attempt"), 0);
}

#[harness::test]
fn the_job_of_a_worker_that_was_killed_is_done_by_another() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    let wid = s.start();
    let mut first = Worker::program(&flow, "step", TOLD);
    assert_eq!(first.line(), wid.to_string());
    let mut second = Worker::program(
        &flow,
        "step",
        "
class Second(Worker):
    def wait(self):
        print('waits', flush=True)
        super().wait()
    def wed_trans(self, payload):
        return 'n = 3'
Second(url, transition, 0.2).run(1)",
    );
    // It has looked, and the job was taken.
    assert_eq!(second.line(), "waits");
    assert_eq!(s.trace(wid).len(), 1);
    first.signal("KILL");
    second.end();
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {} F"]);
    drop(first);
}

#[harness::test]
fn a_worker_that_is_too_slow_is_ended_and_comes_back() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    s.run("UPDATE wed_trig SET timeout = '1 s', backoff = '0.1 s' WHERE trname = 'step'");
    let wid = s.start();
    let mut worker = Worker::program(&flow, "step", TOLD);
    assert_eq!(worker.line(), wid.to_string());
    let host = flow.database.host(one_lane("sweeper"));
    eventually("the worker is ended", || {
        // The attempt is counted before the session is ended, which frees the job's lock.
        let locks = s.number(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 \
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        );
        (s.number("SELECT count(*) FROM wed_attempt") > 0 && locks == 0).then_some(())
    });
    // Nobody watches the clock any more: however slow the machine, the next attempt is in time.
    on(host.stop());
    let attempts = s.lines("SELECT wid, trname, attempt, outcome, writer = current_user FROM wed_attempt");
    assert_eq!(attempts, [format!("{wid}|step|1|timed_out|t")]);
    assert_eq!(s.trace(wid).len(), 1);
    assert_eq!(s.pending(wid), ["step"]);

    // What it has worked out so late is not taken; it connects anew and does the job again.
    worker.tell();
    assert_eq!(worker.line(), wid.to_string());
    worker.tell();
    let said = worker.end();
    assert!(said.contains("no connection"), "{said}");
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {} F"]);
}

#[harness::test]
fn a_worker_that_returns_nothing_or_fails_changes_nothing() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    let wid = s.start();
    let mut worker = Worker::program(
        &flow,
        "step",
        "
class Moody(Worker):
    turns = 0
    def wed_trans(self, payload):
        self.turns += 1
        print(self.turns, payload['n'], flush=True)
        if self.turns == 1: return None
        if self.turns == 2: raise ValueError('not today')
        if self.turns == 3: return 'no_such = 1'
        return 'n = ' + self.literal(payload['n'] + 3)
Moody(url, transition, 0.05).run(1)",
    );
    for turn in ["1 0", "2 0", "3 0", "4 0"] {
        assert_eq!(worker.line(), turn);
    }
    let said = worker.end();
    assert!(said.contains("not today") && said.contains("no_such"), "{said}");
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {} F"]);
}

#[harness::test]
fn a_worker_stops_at_once_and_leaves_its_job() {
    let flow = Flow::of(STEPS);
    let mut s = flow.session();
    // Waiting for work, far from its next look.
    let mut idle = Worker::setting(&flow, "step", "n = 3", &["--wakeup", "3600"]);
    let wid = s.start();
    assert_eq!(flow.end_of(wid), "F");
    idle.signal("INT");
    let status = eventually("the end of the idle one", || idle.child.try_wait().expect("a status"));
    let said = idle.complaints();
    assert!(status.success(), "{status}: {said}");
    assert_eq!(said.trim(), "stopped");

    // In the middle of a transition.
    let wid = s.start();
    let mut busy = Worker::program(&flow, "step", TOLD);
    assert_eq!(busy.line(), wid.to_string());
    busy.signal("INT");
    eventually("the end of the busy one", || busy.child.try_wait().expect("a status"));
    assert_eq!(s.trace(wid), ["-> {step} R"]);
    Worker::setting(&flow, "step", "n = 3", &["--once", "1", "--wakeup", "0.2"]).end();
    assert_eq!(s.trace(wid), ["-> {step} R", "step -> {} F"]);
}
