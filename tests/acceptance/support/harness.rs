//! The list of acceptance tests, which `#[harness::test]` fills at link time, as the runner takes it.

use std::cell::RefCell;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Trial};

thread_local! {
    /// Reason why the test on this thread could not run.
    static SKIPPED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Lists the running test as ignored, for a reason of this machine; the test returns then.
pub(crate) fn skip(reason: String) {
    SKIPPED.set(Some(reason));
}

/// Tests that ended well, with the time each took.
static TIMES: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// Tests under way, with the moment each began.
static RUNNING: Mutex<Vec<(Instant, String)>> = Mutex::new(Vec::new());

/// Time after which a test that has not ended is named.
const NAMED_AFTER: Duration = Duration::from_secs(120);

/// Time after which a test that has not ended ends the run.
const TEST_MAX: Duration = Duration::from_secs(900);

/// Number of tests that `slowest` lists.
const SLOWEST_COUNT: usize = 25;

/// Function that carries `#[harness::test]`.
pub(crate) struct Registered {
    /// Path of its module, from the test binary's crate on.
    pub(crate) module: &'static str,
    pub(crate) name: &'static str,
    /// Runs with `--ignored` only.
    pub(crate) ignored: bool,
    pub(crate) run: fn(),
}

inventory::collect!(Registered);

impl Registered {
    /// Names the test after its module and function, without the crate: `gate::writes::a_test`.
    fn full_name(&self) -> String {
        let module = self.module.split_once("::").map_or("", |(_, rest)| rest);
        format!("{module}::{}", self.name)
    }
}

/// Lists all tests by name.
pub(crate) fn tests() -> Vec<Trial> {
    let mut all: Vec<&Registered> = inventory::iter::<Registered>.into_iter().collect();
    all.sort_by_key(|test| test.full_name());
    let runnable = |test: &'static Registered| {
        let run = move || {
            let under_way = UnderWay::begin(test.full_name());
            SKIPPED.set(None);
            (test.run)();
            under_way.ended_well();
            Ok(match SKIPPED.take() {
                Some(reason) => Completion::ignored_with(reason),
                None => Completion::Completed,
            })
        };
        Trial::ignorable_test(test.full_name(), run).with_ignored_flag(test.ignored)
    };
    all.into_iter().map(runnable).collect()
}

/// Names all tests in full.
pub(crate) fn names_of_tests() -> Vec<String> {
    let all = inventory::iter::<Registered>.into_iter();
    all.map(Registered::full_name).collect()
}

/// A test under way; out of the list of those when it is dropped, also by a panic.
struct UnderWay {
    begun: Instant,
    name: String,
}

impl UnderWay {
    fn begin(name: String) -> Self {
        let begun = Instant::now();
        if let Ok(mut running) = RUNNING.lock() {
            running.push((begun, name.clone()));
        }
        Self { begun, name }
    }

    fn ended_well(&self) {
        if let Ok(mut times) = TIMES.lock() {
            times.push((self.begun.elapsed(), self.name.clone()));
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Ok(mut running) = RUNNING.lock() {
            running.retain(|(_, name)| *name != self.name);
        }
    }
}

/// Names tests that do not end, and ends the run where one takes longer than `TEST_MAX`: a run that hangs tells
/// nothing.
pub(crate) fn watch() {
    let round = Duration::from_secs(30);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(round);
            let running = RUNNING.lock().map(|all| all.clone()).unwrap_or_default();
            for (begun, name) in running {
                let time = begun.elapsed();
                if time > TEST_MAX {
                    eprintln!("{name} has not ended after {time:.0?}; the run ends here");
                    super::server::stop();
                    std::process::exit(101);
                }
                if time > NAMED_AFTER && time <= NAMED_AFTER + round {
                    eprintln!("{name} has not ended after {time:.0?}");
                }
            }
        }
    });
}

/// Lists the tests that took longest, for a person who wants a shorter run.
pub(crate) fn slowest() -> String {
    let mut times = TIMES.lock().map(|all| all.clone()).unwrap_or_default();
    times.sort_by(|a, b| b.cmp(a));
    let total: Duration = times.iter().map(|(time, _)| *time).sum();
    let listed = times.iter().take(SLOWEST_COUNT);
    let lines = listed.map(|(time, name)| format!("{:7.1} s  {name}\n", time.as_secs_f64()));
    format!(
        "{:7.1} s  all {} tests, one after the other; the slowest:\n{}",
        total.as_secs_f64(),
        times.len(),
        lines.collect::<String>()
    )
}
